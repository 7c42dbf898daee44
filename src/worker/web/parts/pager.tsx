// Lists in pages of a fixed size.
import { readNumber } from "./query.ts";

/** Number of items on a page. */
export const PAGE_ITEMS = 50;

/** Reads the number of items before the first one that a URL requests. */
export function readStart(query: URLSearchParams): number {
  return readNumber(query, "start") ?? 0;
}

/** Links to the other pages of a list.
 * @param here path of the page
 * @param first label of the link to the first items; `further` is that of the following ones */
export function Pager({
  here,
  start,
  total,
  first,
  further,
}: {
  here: string;
  start: number;
  total: number;
  first: string;
  further: string;
}) {
  const next = start + PAGE_ITEMS;
  if (start === 0 && next >= total) return null;
  return (
    <nav class="row" aria-label="Pages">
      {start > 0 && (
        <a class="button" href={here}>
          {first}
        </a>
      )}
      {next < total && (
        <a class="button" rel="next" href={`${here}?start=${next}`}>
          {further} ({(total - next).toLocaleString("en")} left)
        </a>
      )}
    </nav>
  );
}
