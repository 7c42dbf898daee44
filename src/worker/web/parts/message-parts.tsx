// A message that is too large for one page comes in parts.
import { readNumber } from "./query.ts";
import { withQuery } from "./urls.ts";
import type { PageContext } from "./web-env.ts";

/** More than any message has. */
const MAX_PART = 99_999;

/** The part that a page's URL asks for, from 1.
 * @throws GitError "invalid" */
export function readPart(context: PageContext): number {
  return readNumber(new URL(context.req.url).searchParams, "part", 1, MAX_PART) ?? 1;
}

/** Links to the part before and the one that follows.
 * @param here URL of the page, without a query
 * @param parts in how many parts the message comes; undefined: in one */
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
