// Messages that are too large for one page are shown in parts.
import { readNumber } from "./query.ts";
import { withQuery } from "./urls.ts";
import type { PageContext } from "./web-env.ts";

/** Larger than the number of parts of any message. */
const MAX_PART = 99_999;

/** Reads the part that a page's URL requests, from 1.
 * @throws GitError "invalid" */
export function readPart(context: PageContext): number {
  return readNumber(new URL(context.req.url).searchParams, "part", 1, MAX_PART) ?? 1;
}

/** Links to the previous and the next part.
 * @param here URL of the page, without a query
 * @param parts number of the message's parts; undefined: one */
export function Parts({ here, part, parts = 1 }: { here: string; part: number; parts?: number | undefined }) {
  if (parts === 1) return null;
  const to = (one: number): string => withQuery(here, { part: one === 1 ? null : `${one}` });
  return (
    <nav class="row" aria-label="Parts of the message">
      {part > 1 && (
        <a class="button" rel="prev" href={to(part - 1)}>
          Part before
        </a>
      )}
      <span class="muted">
        part {part} of {parts} of the message
      </span>
      {part < parts && (
        <a class="button" rel="next" href={to(part + 1)}>
          Next part
        </a>
      )}
    </nav>
  );
}
