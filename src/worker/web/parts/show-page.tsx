// Answers with pages. Every page passes through here: headers, frame, and validation of the
// browser's cache.
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import { checkConditions } from "../../../base/format/conditional-request.ts";
import { Layout } from "./layout.tsx";
import { PAGE_HEADERS, UNLISTED } from "./page-headers.ts";
import type { PageContext } from "./web-env.ts";

export interface Page {
  readonly title: string;
  /** Summary for search engines; default: the title. */
  readonly description?: string;
  /** Whether search engines skip it, since another page has the same content. Default: false. */
  readonly isUnlisted?: boolean;
  /** Default: 200. */
  readonly status?: number;
  readonly head?: Child;
  /** Content of `<main>`. HTML in pieces is sent as it arrives, after the frame's beginning. */
  readonly content: Child | AsyncIterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Placeholder for content that is sent in pieces. No text can contain it: it would be escaped. */
const GAP = "<!gap>";

/** Answers with a page, or with a response that takes its place. */
export async function showPage(context: PageContext, page: Page | Response): Promise<Response> {
  if (page instanceof Response) return page;
  const { title, description = title, isUnlisted = false, status = 200, head, content, headers } = page;
  const visitor = await context.get("host").visitor();
  const { origin, pathname, search } = new URL(context.req.url);
  const pieces = isPieces(content) ? content : null;
  const frame = (
    <Layout
      title={title}
      description={description}
      canonical={status === 200 && !isUnlisted ? origin + pathname : null}
      visitor={visitor}
      here={pathname + search}
      head={head}
    >
      {pieces === null ? (content as Child) : raw(GAP)}
    </Layout>
  );
  // An element becomes a string or a promise, depending on its children.
  const markup = (await frame).toString() as string | Promise<string>;
  const html = `<!doctype html>${await markup}`;
  const body = pieces === null ? html : streamPieces(html, pieces);
  return new Response(body, { status, headers: { ...PAGE_HEADERS, ...(isUnlisted && UNLISTED), ...headers } });
}

/** Answers with a page that is determined by some ids, the visitor and the code, or with 304 if the
 * browser has it. Relative times such as "3 hours ago" may be an hour old.
 * @param ids all that the page depends on besides the URL
 * @param produce makes the page; only called if it is sent */
export async function showPageByIds(
  context: PageContext,
  ids: readonly string[],
  produce: () => Promise<Page | Response>,
): Promise<Response> {
  const host = context.get("host");
  const visitor = await host.visitor();
  const who = visitor.kind === "signed-in" ? visitor.id : visitor.kind;
  const hour = Math.floor(Date.now() / 3_600_000);
  const etag = `"${[host.build, who, hour, ...ids].join("-")}"`;
  if (checkConditions(context.req.raw.headers, etag) === 304)
    return new Response(null, { status: 304, headers: { ...PAGE_HEADERS, ETag: etag } });
  const page = await produce();
  if (page instanceof Response) return page;
  return showPage(context, { ...page, headers: { ...page.headers, ETag: etag } });
}

function isPieces(content: Page["content"]): content is AsyncIterable<string> {
  return typeof content === "object" && content !== null && Symbol.asyncIterator in content;
}

/** Sends the frame's beginning, the pieces, and the frame's end.
 * @param html with `GAP` at the place of the pieces */
function streamPieces(html: string, pieces: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const at = html.lastIndexOf(GAP);
  const encoder = new TextEncoder();
  const all = (async function* () {
    yield html.slice(0, at);
    yield* pieces;
    yield html.slice(at + GAP.length);
  })();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await all.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: () => all.return().then(() => undefined),
  });
}
