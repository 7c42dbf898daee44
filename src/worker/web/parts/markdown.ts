// Markdown from repositories as HTML. It is parsed with GitHub's extensions, its HTML is parsed as
// a browser does, and elements and attributes that are not on GitHub's list are removed.
import { defaultSchema, sanitize, type Schema } from "hast-util-sanitize";
import { toHtml } from "hast-util-to-html";
import type { Root } from "hast";
import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import { GitError } from "../../../base/format/errors.ts";
import { encodePath } from "../../../base/format/path-parts.ts";
import { StepBudget } from "../../../base/format/step-budget.ts";
import { ByteCache } from "../../../base/bytes/byte-cache.ts";
import { fitIntoPage, type MarkdownLinks } from "./markdown-tree.ts";
import { MAX_MARKDOWN_STEPS, MarkdownParser } from "./markdown-parser.ts";
import { parseHtml } from "./parse-html.ts";
import { visibleText } from "./text.ts";
import { placeUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** Capacity of an isolate's HTML cache, in characters. */
const CACHED_CHARS = 4 * 1024 * 1024;

/** Location of a text. */
export interface MarkdownPlace {
  readonly place: PagePlace;
  /** As the URL names it, byte string. */
  readonly rev: string;
  /** The directory that holds it, byte string, "" for the root. */
  readonly directory: string;
}

/** Attributes that texts may not have: they affect the keyboard on the whole page. */
const REACHING: readonly unknown[] = ["accessKey", "tabIndex"];

/** GitHub's list, without `<source>`: it names images of other sites, which the pages' policy
 * refuses anyway. */
const SCHEMA: Schema = {
  ...defaultSchema,
  tagNames: defaultSchema.tagNames!.filter((name) => name !== "source"),
  attributes: {
    ...defaultSchema.attributes,
    "*": defaultSchema.attributes!["*"]!.filter((name) => !REACHING.includes(name)),
  },
};

/** Placeholder for the revision in cached HTML, since a text is read by several names of its
 * revision. No text can contain it: `visibleText` and `parseHtml` replace it. */
const REVISION = "\0";
const WRITTEN_REVISION = "&#x0;";

/** Cached HTML. Null: the text cannot be shown as HTML. */
const rendered = new ByteCache<string | null>(CACHED_CHARS);

const parser = new MarkdownParser();

/** Renders Markdown as HTML that is safe in a page.
 * @param id identifies the text, such as its blob's
 * @returns null: the text takes too much work, or is nested too deeply */
export function renderMarkdown(id: string, text: string, where: MarkdownPlace): HtmlEscapedString | null {
  const { place, rev, directory } = where;
  const key = JSON.stringify([id, place.owner, place.name, directory]);
  let html = rendered.get(key);
  if (html === undefined) {
    html = render(text, linksFrom(place, directory));
    rendered.set(key, html, html?.length ?? key.length);
  }
  // Safe: the sanitizer's output with the changes of `fitIntoPage`, serialised as HTML; and an
  // encoded revision, which has no quotes, in the addresses of attributes.
  return html === null ? null : (raw(html.replaceAll(WRITTEN_REVISION, () => encodePath(rev))) as HtmlEscapedString);
}

/** @returns null: the text takes too much work, or is nested too deeply */
function render(text: string, links: MarkdownLinks): string | null {
  const budget = new StepBudget(MAX_MARKDOWN_STEPS, "a text as Markdown (steps)");
  try {
    const parsed = parseHtml(parser.render(visibleText(text), budget), budget);
    if (parsed === null) return null;
    const tree = sanitize(parsed, SCHEMA) as Root;
    fitIntoPage(tree, links, budget);
    return toHtml(tree);
  } catch (error) {
    if (error instanceof GitError && error.code === "too-large") return null;
    throw error;
  }
}

/** Resolves addresses relative to the directory of a text: files lead to their pages, images to
 * their bytes. */
function linksFrom(place: PagePlace, directory: string): MarkdownLinks {
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
      return `${placeUrl(place, page)}/${REVISION}${path}${isImage ? "" : url.hash}`;
    },
  };
}
