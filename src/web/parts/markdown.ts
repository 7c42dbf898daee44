// Markdown from repositories as HTML. It is parsed with GitHub's extensions, its HTML is parsed as
// a browser does, and what is not on GitHub's list of elements and attributes is removed.
import { defaultSchema, sanitize, type Schema } from "hast-util-sanitize";
import { toHtml } from "hast-util-to-html";
import type { Root } from "hast";
import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import MarkdownIt from "markdown-it";
import { encodePath } from "../../format/path-parts.ts";
import { ByteCache } from "../../repository/pack-bytes/byte-cache.ts";
import { fitIntoPage, type MarkdownLinks } from "./markdown-tree.ts";
import { parseHtml } from "./parse-html.ts";
import { visibleText } from "./text.ts";
import { pathUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** Chars of the HTML that an isolate keeps: a page that many look at is made once. */
const CACHED_CHARS = 4 * 1024 * 1024;

/** Where a text is. */
export interface MarkdownPlace {
  readonly place: PagePlace;
  /** As the URL names it, byte string. */
  readonly rev: string;
  /** The directory that holds it, byte string, "" for the root. */
  readonly directory: string;
}

const parser = new MarkdownIt({ html: true, linkify: true });
// `example.md` is a file, not a site.
parser.linkify.set({ fuzzyLink: false });

/** Not for texts: they reach for the keyboard of the whole page. */
const REACHING: readonly unknown[] = ["accessKey", "tabIndex"];

/** GitHub's list, without what the pages' policy would refuse anyway: images of other sites, which
 * `<source>` names. */
const SCHEMA: Schema = {
  ...defaultSchema,
  tagNames: defaultSchema.tagNames!.filter((name) => name !== "source"),
  attributes: {
    ...defaultSchema.attributes,
    "*": defaultSchema.attributes!["*"]!.filter((name) => !REACHING.includes(name)),
  },
};

const rendered = new ByteCache<HtmlEscapedString>(CACHED_CHARS);

/** Writes Markdown as HTML that is safe in a page.
 * @param id identifies the text, such as its blob's
 * @returns null: it has too many elements, or is nested too deeply, to be shown so */
export function renderMarkdown(id: string, text: string, where: MarkdownPlace): HtmlEscapedString | null {
  const { place, rev, directory } = where;
  const key = JSON.stringify([id, place.owner, place.name, rev, directory]);
  const kept = rendered.get(key);
  if (kept !== undefined) return kept;
  const parsed = parseHtml(parser.render(visibleText(text)));
  if (parsed === null) return null;
  const tree = sanitize(parsed, SCHEMA) as Root;
  fitIntoPage(tree, linksFrom(where));
  // Safe: what the sanitizer let through, and what `fitIntoPage` makes of text, written out as
  // HTML.
  const html = raw(toHtml(tree)) as HtmlEscapedString;
  rendered.set(key, html, html.length);
  return html;
}

/** Resolves addresses relative to the directory of a text: files lead to their pages, images to
 * their bytes. */
function linksFrom({ place, rev, directory }: MarkdownPlace): MarkdownLinks {
  const root = "https://repository.invalid";
  const base = `${root}/${encodePath(directory === "" ? "" : `${directory}/`)}`;
  return {
    resolve(address, isImage) {
      if (!URL.canParse(address, base)) return null;
      const url = new URL(address, base);
      if (url.origin !== root) return isImage ? null : address;
      const isDirectory = url.pathname.endsWith("/");
      const page = isImage ? "raw" : isDirectory ? "tree" : "blob";
      const path = url.pathname.replace(/\/$/, "");
      return pathUrl(place, page, rev, "") + path + (isImage ? "" : url.hash);
    },
  };
}
