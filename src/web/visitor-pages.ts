import { html, raw } from "hono/html";
import { PAGE_HEADERS } from "./api-docs/page.ts";

type Html = ReturnType<typeof html>;

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 42rem; padding: 2rem 1rem; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
pre { background: #8882; padding: .7rem .9rem; border-radius: .3rem; white-space: pre-wrap; }
`;

/** The page at the server's URL.
 * @param origin of the server, without a trailing slash */
export async function renderFrontPage(origin: string): Promise<Response> {
  const example = `${origin}/me/my-repo.git`;
  return renderPage(
    200,
    "Holdfast",
    html`<p>A Git host. A repository is created by its first push:</p>
      <pre>git push ${example} main</pre>
      <p>and is cloned from the same place:</p>
      <pre>git clone ${example}</pre>`,
  );
}

/** The page at a repository's URL.
 * @param name `owner/name` */
export async function renderRepositoryPage(origin: string, name: string): Promise<Response> {
  return renderPage(200, name, html`<pre>git clone ${origin}/${name}.git</pre>`);
}

/** The page for a repository that is missing, or that not everyone may read. */
export async function renderMissingPage(): Promise<Response> {
  return renderPage(
    404,
    "Not found",
    html`<p>There is no public repository here. If it is private, git will ask for a token.</p>`,
  );
}

async function renderPage(status: number, title: string, content: Html): Promise<Response> {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${raw(STYLE)}
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        ${content}
        <p><a href="/api/docs">The API</a></p>
      </body>
    </html>`;
  return new Response(String(await page), { status, headers: { ...PAGE_HEADERS, Vary: "Accept" } });
}
