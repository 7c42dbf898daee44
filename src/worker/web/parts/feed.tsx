// Atom feeds. @see RFC 4287
import { escapeText } from "./code.tsx";
import { visibleText } from "./text.ts";

/** An entry of a feed; all fields are text. */
export interface FeedEntry {
  readonly title: string;
  /** Absolute URL. */
  readonly url: string;
  /** ISO 8601. */
  readonly updated: string;
  readonly author: string | null;
  readonly content: string;
}

/** A link to a feed. @param of its subject */
export function FeedLink({ href, of }: { href: string; of: string }) {
  return (
    <a href={href}>
      Feed<span class="hush"> of {of}</span>
    </a>
  );
}

/** The element in the page's head that tells browsers of a feed. */
export function FeedHead({ href, title }: { href: string; title: string }) {
  return <link rel="alternate" type="application/atom+xml" title={title} href={href} />;
}

/** Writes a feed.
 * @param self its own URL, absolute
 * @param page URL of the page with the same content, absolute */
export function writeFeed(
  title: string,
  self: string,
  page: string,
  owner: string,
  entries: readonly FeedEntry[],
): string {
  const updated = entries.map((entry) => entry.updated).sort((a, b) => Date.parse(b) - Date.parse(a))[0];
  const items = entries.map(
    ({ url, author, content, ...entry }) =>
      `<entry><id>${xml(url)}</id><title>${xml(entry.title)}</title><updated>${xml(entry.updated)}</updated>` +
      `<link rel="alternate" type="text/html" href="${xml(url)}"/>` +
      (author === null ? "" : `<author><name>${xml(author)}</name></author>`) +
      `<content type="text">${xml(content)}</content></entry>\n`,
  );
  return (
    `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n<id>${xml(self)}</id>` +
    `<title>${xml(title)}</title><updated>${xml(updated ?? "1970-01-01T00:00:00Z")}</updated>` +
    `<author><name>${xml(owner)}</name></author>` +
    `<link rel="self" type="application/atom+xml" href="${xml(self)}"/>` +
    `<link rel="alternate" type="text/html" href="${xml(page)}"/>\n${items.join("")}</feed>\n`
  );
}

/** Escapes text for an element or an attribute. XML excludes most control characters, and U+FFFE
 * and U+FFFF. */
function xml(text: string): string {
  return escapeText(visibleText(text).replace(/[\ufffe\uffff]/g, "\ufffd")).replaceAll('"', "&quot;");
}
