import { encodeText } from "../../base/format/byte-string.ts";
import { toHex } from "../../base/format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit } from "../objects/revision.ts";
import { DAY_SECONDS, formatDay, parseDay, weekday } from "../../base/format/calendar.ts";
import { noteAuthors } from "./note-authors.ts";
import type { Activity } from "../../contract/tally.ts";

/** Counts the commits that a revision reaches, with merges, by the time they were written: the
 * author's date, in the author's time zone.
 * @param since first day, "yyyy-mm-dd"
 * @param until last day
 * @throws GitError as `resolveCommit` */
export async function activity(
  repository: OpenRepository,
  {
    ref,
    since,
    until,
    per,
  }: { readonly ref: string; readonly since: string; readonly until: string; readonly per: "day" | "week" },
): Promise<Activity> {
  const commit = await resolveCommit(repository, encodeText(ref));
  await noteAuthors(repository);
  const { graph, authors } = repository.tables;
  const [first, last] = [parseDay(since), parseDay(until)];
  const periods = new Map<number, number>();
  const hours = Array.from({ length: 7 }, () => Array.from({ length: 24 }, () => 0));
  let total = 0;
  for (const position of graph.ancestors([graph.position(commit.number)])) {
    const seconds = authors.time(position) + authors.zone(position) * 60;
    const day = Math.floor(seconds / DAY_SECONDS);
    if (day < first || day > last) continue;
    const start = per === "day" ? day : day - weekday(day);
    periods.set(start, (periods.get(start) ?? 0) + 1);
    hours[weekday(day)]![Math.floor((seconds - day * DAY_SECONDS) / 3_600)]! += 1;
    total += 1;
  }
  const inOrder = [...periods].sort(([a], [b]) => a - b);
  return {
    commit: toHex(commit.oid),
    total,
    periods: inOrder.map(([start, commits]) => ({ start: formatDay(start), commits })),
    hours,
  };
}
