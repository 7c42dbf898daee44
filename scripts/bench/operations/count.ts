/** Counts what one kind of work costs. */
import { addBill, newBill, type Stored } from "../../../test/harness/metered/bill.ts";
import type { MeteredServer } from "../../../test/harness/metered/server.ts";
import type { Bench } from "../figures/bench.ts";
import type { Measures } from "../figures/sample.ts";

/** Work whose operations are counted. */
export interface Counted {
  readonly scenario: string;
  /** How often the work is done, each time with what follows it. */
  readonly rounds: number;
  /** How many counted items one time covers (default 1). */
  readonly atOnce?: number;
  /** Runs before each time, uncounted. */
  readonly prepare?: (round: number) => Promise<unknown>;
  readonly run: (round: number) => Promise<unknown>;
  /** How far the server's clock moves after each time. The maintenance in that time is counted
   * separately. */
  readonly afterMs?: number;
  /** Whether to report how much storage has grown in all. That would include what `prepare`
   * stored. */
  readonly stores?: boolean;
  /** Further values. */
  readonly tell?: () => Promise<Measures>;
}

/** Where the work is done, and how its samples are labelled. */
export interface Place {
  readonly server: MeteredServer;
  readonly bench: Bench;
  readonly repository: string;
  readonly files: number;
  /** The number of this run, from 1. */
  readonly round: number;
}

/** Does the work and counts. Gives the sums over all rounds: of the work itself (`part` "work"),
 * and of the maintenance after it ("after"). */
export async function count(place: Place, counted: Counted): Promise<void> {
  const { server, bench, repository, files, round } = place;
  const { scenario, rounds, atOnce = 1, prepare, run, afterMs, stores = false, tell } = counted;
  process.stderr.write(`${repository}, ${files} files: ${scenario}\n`);
  // The CPU clock counts hundredths of a second; its errors even out over the rounds.
  const parts = { work: { bill: newBill(), cpuSeconds: 0 }, after: { bill: newBill(), cpuSeconds: 0 } };
  const take = async (part: (typeof parts)["work"], work: () => Promise<unknown>): Promise<void> => {
    const before = server.readCpuSeconds();
    await work();
    addBill(part.bill, await server.takeBill());
    part.cpuSeconds += server.readCpuSeconds() - before;
  };
  const before = stores ? await server.readStored() : null;
  for (let index = 0; index < rounds; index++) {
    await prepare?.(index);
    await server.takeBill();
    await take(parts.work, () => run(index));
    if (afterMs !== undefined) await take(parts.after, () => server.advance(afterMs));
  }
  const grown = before === null ? [] : Object.entries(await server.readStored());
  const growth = grown.map(([measure, value]) => [measure, value - before![measure as keyof Stored]] as const);
  const told = { ...Object.fromEntries(growth), ...(await tell?.()) };
  const last = afterMs === undefined ? "work" : "after";
  for (const part of ["work", "after"] as const) {
    if (part === "after" && afterMs === undefined) continue;
    const { bill, cpuSeconds } = parts[part];
    const measures = { ...bill, "CPU ms": cpuSeconds * 1000, ...(part === last && told) };
    bench.note({ repository, files, scenario, part, times: rounds * atOnce }, "holdfast", round, measures);
  }
}
