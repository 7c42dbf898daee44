/** Counts what one kind of work costs. */
import { type Measures, type Sample, toSamples } from "../figures/sample.ts";
import { addBill, newBill, type Stored, toGrowth, toMeasures } from "./bill.ts";
import type { MeteredServer } from "./metered-server.ts";

/** Work whose operations are counted. */
export interface Counted {
  readonly scenario: string;
  /** How often it is done, each time with what comes after. */
  readonly rounds: number;
  /** How many of what is counted are done each time (default 1). */
  readonly atOnce?: number;
  /** Is done before each time, and not counted. */
  readonly prepare?: (round: number) => Promise<unknown>;
  readonly run: (round: number) => Promise<unknown>;
  /** How much time passes on the server's clock after each time: what housekeeping does in it is counted by itself. */
  readonly afterMs?: number;
  /** Whether to tell by how much storage has grown in all; what `prepare` stored would be in it. */
  readonly stores?: boolean;
  /** Further values. */
  readonly tell?: () => Promise<Measures>;
}

/** Where and when work is done. */
export interface At {
  readonly server: MeteredServer;
  /** Which run of the whole this is, from 1. */
  readonly round: number;
}

/** The same, with what the samples say. */
export interface Place extends At {
  /** Of the repository, for the samples. */
  readonly repository: string;
  readonly files: number;
}

/** Sums up the CPU of the runtime over several stretches: its clock counts hundredths of a second, whose errors even out. */
class CpuClock {
  readonly #server: MeteredServer;
  seconds = 0;

  constructor(server: MeteredServer) {
    this.#server = server;
  }

  async time(work: () => Promise<unknown>): Promise<void> {
    const before = this.#server.readCpuSeconds();
    await work();
    this.seconds += this.#server.readCpuSeconds() - before;
  }
}

/** Does the work and counts: sums over all its rounds, those of the work itself (`part` "work") and of the housekeeping after it ("after"). */
export async function count(place: Place, counted: Counted): Promise<Sample[]> {
  const { server, repository, files, round } = place;
  const { scenario, rounds, atOnce = 1, prepare, run, afterMs, stores = false, tell } = counted;
  process.stderr.write(`${repository}, ${files} files: ${scenario}\n`);
  const parts = {
    work: { bill: newBill(), cpu: new CpuClock(server) },
    after: { bill: newBill(), cpu: new CpuClock(server) },
  };
  const take = async ({ bill, cpu }: (typeof parts)["work"], work: () => Promise<unknown>): Promise<void> => {
    await cpu.time(async () => {
      await work();
      addBill(bill, await server.takeBill());
    });
  };
  const before = stores ? await server.readStored() : null;
  for (let index = 0; index < rounds; index++) {
    await prepare?.(index);
    await server.takeBill();
    await take(parts.work, () => run(index));
    if (afterMs !== undefined) await take(parts.after, () => server.advance(afterMs));
  }
  const growth = before === null ? {} : toGrowth(before, (await server.readStored()) satisfies Stored);
  const told = (await tell?.()) ?? {};
  return (["work", "after"] as const).flatMap((part) => {
    if (part === "after" && afterMs === undefined) return [];
    const { bill, cpu } = parts[part];
    const isLast = part === "after" || afterMs === undefined;
    const measures = { ...toMeasures(bill), "CPU ms": cpu.seconds * 1000, ...(isLast && { ...growth, ...told }) };
    return toSamples({ repository, files, scenario, part, times: rounds * atOnce }, "holdfast", round, measures);
  });
}
