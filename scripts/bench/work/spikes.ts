/** Saves that took much longer than those beside them, and what the server did meanwhile. */
import type { Happening } from "../hosts/event-watch.ts";
import { median } from "../figures/summary.ts";

/** A save, and when it was. */
export interface TimedSave {
  /** As `performance.now()` tells them. */
  readonly startMs: number;
  readonly endMs: number;
}

/** A save that stands out. */
export interface Spike {
  readonly ms: number;
  /** How many times the median of its loop. */
  readonly factor: number;
  readonly text: string;
}

/** The saves of a loop that stand out most, the worst first.
 * @param name what the loop is called */
export function findSpikes(
  name: string,
  saves: readonly TimedSave[],
  happenings: readonly Happening[],
  count: number,
): Spike[] {
  const firstMs = Math.min(...saves.map(({ startMs }) => startMs));
  const middle = median(saves.map(({ startMs, endMs }) => endMs - startMs));
  return saves
    .toSorted((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs))
    .slice(0, count)
    .map((save) => {
      const ms = save.endMs - save.startMs;
      const factor = ms / middle;
      const when = `${((save.startMs - firstMs) / 1000).toFixed(2)} s into its loop`;
      const text = `${ms.toFixed(1)} ms, ${factor.toFixed(1)} times the median of ${name}, ${when}: ${describeWindow(save, happenings)}`;
      return { ms, factor, text };
    });
}

/** What happened while a save was under way, the longest first. */
function describeWindow(save: TimedSave, happenings: readonly Happening[]): string {
  const within = happenings.filter(({ startMs, endMs }) => startMs < save.endMs && endMs > save.startMs);
  const kinds = [...Map.groupBy(within, ({ name }) => name)].map(([name, all]) => {
    const longest = Math.max(...all.map(({ startMs, endMs }) => endMs - startMs));
    return {
      longest,
      text: `${all.length === 1 ? "" : `${all.length} × `}${name} (${all.length === 1 ? "" : "up to "}${longest.toFixed(0)} ms)`,
    };
  });
  const told = kinds.toSorted((a, b) => b.longest - a.longest).map(({ text }) => text);
  return told.length === 0 ? "the server told of nothing" : told.join(", ");
}
