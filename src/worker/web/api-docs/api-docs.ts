import { html, raw } from "hono/html";
import type { Content, Listed, OpenApiDocument, Operation, Parameter, Schemas } from "./open-api.ts";
import { showRequest } from "./request-example.ts";
import { brief, describe } from "./schema-text.ts";

type Html = ReturnType<typeof html>;

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** Schema of all failures. */
const ERROR = "#/components/schemas/Error";

/** Renders the reference page of the API from its OpenAPI document: one page without scripts or
 * external resources.
 * @param api the API's URL, for the examples */
export async function renderApiDocs(document: OpenApiDocument, api: string): Promise<Response> {
  const { title, version, description } = document.info;
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  const operations = listOperations(document);
  const common = commonFailures(operations);
  const groups = Map.groupBy(operations, ({ operation }) => operation.tags?.[0] ?? "other");
  const tags = [...groups].toSorted(([a], [b]) => a.localeCompare(b));
  const contents = tags.map(
    ([tag, operations]) =>
      html`<h2>${tag}</h2>
        ${operations.map((listed) => html`<a href="#${idOf(listed)}">${inline(listed.operation.summary ?? listed.path)}</a>`)}`,
  );
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} API</title>
        <style>
          ${raw(API_DOCS_STYLE)}
        </style>
      </head>
      <body>
        <nav class="beside"><a href="#top">${title} API ${version}</a>${contents}</nav>
        <main id="top">
          <h1>${title} API</h1>
          <details class="above">
            <summary>Routes</summary>
            <nav>${contents}</nav>
          </details>
          <p>${inline(description)}</p>
          <p>This page is made from <a href="openapi.json">openapi.json</a>. The examples use:</p>
          <pre>api=${api}</pre>
          <p>
            Send a token with each request: <code>-H "Authorization: Bearer $TOKEN"</code>. Public repositories can be
            read without one, and a server with open access needs none.
          </p>
          <section id="errors">
            <h2>Errors</h2>
            <p>Any route may fail in these ways. Further failures are listed with their routes.</p>
            <table>
              ${[...common].map(
                ([status, description]) =>
                  html`<tr>
                    <td>${status}</td>
                    <td>${inline(description)}</td>
                  </tr>`,
              )}
            </table>
            <p>All have this body:</p>
            ${schemas["Error"] === undefined ? "" : html`<pre>${inline(describe(schemas, schemas["Error"]))}</pre>`}
          </section>
          ${tags.map(
            ([tag, operations]) =>
              html`<h2>${tag}</h2>
                ${operations.map((listed) => renderOperation(listed, schemas, common))}`,
          )}
          <a class="back" href="#top" aria-label="to the list of routes">↑</a>
        </main>
      </body>
    </html>`;
  return new Response(String(await page), { headers: PAGE_HEADERS });
}

function renderOperation(listed: Listed, schemas: Schemas, common: ReadonlyMap<string, string>): Html {
  const { method, path, operation } = listed;
  const own = Object.entries(operation.responses ?? {}).filter(([status]) => !common.has(status));
  return html`<section id="${idOf(listed)}">
    <h3><b class="${method}">${method.toUpperCase()}</b> <code>${breakable(path)}</code></h3>
    <p>${inline(operation.summary)}. <i>Needs: ${operation["x-needs"]}.</i></p>
    ${operation.description === undefined ? "" : html`<p>${inline(operation.description)}</p>`}
    ${renderParameters(operation.parameters ?? [])}
    ${
      operation.requestBody === undefined
        ? ""
        : html`<h4>Body</h4>
            ${renderContent(operation.requestBody.content, schemas)}`
    }
    <h4>Example</h4>
    <pre>${showRequest(listed, schemas)}</pre>
    ${own.map(
      ([status, { description, content }]) =>
        html`<h4>${status}: ${inline(description)}</h4>
          ${renderContent(content, schemas)}`,
    )}
  </section>`;
}

function renderContent(content: Content = {}, schemas: Schemas): Html[] {
  return Object.entries(content).map(([type, { schema }]) => {
    if (type !== "application/json" || schema === undefined) return html`<p><code>${type}</code></p>`;
    // The error schema is described once, at the top of the page.
    if (schema.$ref === ERROR) return html`<p>An <a href="#errors">error</a>.</p>`;
    return html`<pre>${inline(describe(schemas, schema))}</pre>`;
  });
}

function renderParameters(parameters: readonly Parameter[]): Html | string {
  const shown = parameters.filter(
    ({ name, in: place }) => !(place === "path" && (name === "owner" || name === "repo")),
  );
  if (shown.length === 0) return "";
  return html`<table>
    ${shown.map(
      ({ name, in: place, required, description, schema }) =>
        html`<tr>
          <td><code>${name}</code>${required === true ? "" : html` <i>optional</i>`}</td>
          <td>${place}</td>
          <td><code>${schema === undefined ? "" : brief(schema)}</code></td>
          <td>${inline(description ?? schema?.description)}</td>
        </tr>`,
    )}
  </table>`;
}

function listOperations({ paths = {} }: OpenApiDocument): Listed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) => ({
      method,
      path,
      operation: (methods as Record<string, Operation>)[method]!,
    })),
  );
}

/** Finds the failures that every route may give, with their meaning: they are listed once, at the
 * top of the page. */
function commonFailures(operations: readonly Listed[]): ReadonlyMap<string, string> {
  const [first = {}, ...others] = operations.map(({ operation }) => operation.responses ?? {});
  const shared = Object.entries(first).filter(
    ([status, { content }]) =>
      content?.["application/json"]?.schema?.$ref === ERROR && others.every((responses) => status in responses),
  );
  return new Map(shared.map(([status, { description = "" }]) => [status, description]));
}

function idOf({ method, path }: Listed): string {
  return `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, "-")}`;
}

/** Renders text, with parts between backticks as code. */
function inline(text = ""): (Html | string)[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

/** Renders a path that may break across lines after each slash. */
function breakable(path: string): (Html | string)[] {
  return path.split("/").flatMap((part, index) => (index === 0 ? [part] : ["/", raw("<wbr>"), part]));
}

/** The style sheet of the API's reference page. */
const API_DOCS_STYLE = `
:root { color-scheme: light dark; --line: #8884; --weak: #777; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 17rem minmax(0, 60rem); }
.beside { position: sticky; top: 0; height: 100vh; overflow: auto; border-right: 1px solid var(--line); padding: 1rem; box-sizing: border-box; }
nav a { display: block; color: inherit; text-decoration: none; padding: .1rem 0; font-size: .87rem; }
nav a:hover { text-decoration: underline; }
nav h2 { font-size: .8rem; margin: 1rem 0 .2rem; color: var(--weak); text-transform: uppercase; }
main { padding: 1rem 2rem; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: .5rem 0; }
h3 { margin: .5rem 0; }
h3 b { font-size: .8rem; padding: .15rem .4rem; border-radius: .25rem; color: #fff; background: #555; }
h3 .get { background: #2563ab; } h3 .post { background: #2a7a45; } h3 .put, h3 .patch { background: #96690c; } h3 .delete { background: #a13030; }
h4 { margin: .8rem 0 .2rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--line); padding: .25rem .8rem .25rem 0; vertical-align: top; }
td:first-child { overflow-wrap: normal; }
td i { color: var(--weak); font-size: .85rem; }
code { font-size: .9em; }
:not(h3) > code { background: #8881; border-radius: .2rem; padding: 0 .2rem; }
pre { background: #8881; padding: .6rem .8rem; border-radius: .3rem; font-size: .85rem; white-space: pre-wrap; }
.above, .back { display: none; }
@media (max-width: 60rem) {
  body { display: block; }
  main { padding: 1rem; }
  .beside { display: none; }
  .above { display: block; border: 1px solid var(--line); border-radius: .3rem; }
  .above summary { padding: .7rem 1rem; cursor: pointer; }
  .above nav { padding: 0 1rem 1rem; }
  .above a { padding: .4rem 0; font-size: 1rem; }
  tr { display: block; border-top: 1px solid var(--line); padding: .4rem 0; }
  td { display: inline; border: 0; padding: 0 .4rem 0 0; }
  td:last-child { display: block; }
  .back { display: grid; place-items: center; position: fixed; right: 1rem; bottom: 1rem; width: 2.75rem; height: 2.75rem;
    border-radius: 50%; background: #2563ab; color: #fff; text-decoration: none; font-size: 1.2rem; }
}
`;

/** Headers of every page. They forbid scripts, external resources, forms and framing; styles are
 * inline. */
const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
} as const;
