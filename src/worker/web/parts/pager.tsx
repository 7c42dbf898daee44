// Lists that come in parts of a fixed size.
import { readNumber } from "./query.ts";

/** Items on a page. */
export const PAGE_ITEMS = 50;

/** How many items precede those that a URL asks for. */
export function readStart(query: URLSearchParams): number {
  return readNumber(query, "start") ?? 0;
}

/** The ways to the other parts of a list.
 * @param here path of the page
 * @param first what the first items are called, `further` those that follow */
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
