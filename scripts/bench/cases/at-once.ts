/** Runs clients that ask at the same time. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Measures } from "../figures/sample.ts";
import { measureCost } from "../hosts/cost.ts";
import { type Host, readMemory } from "../hosts/host.ts";
import { allOf } from "../work/all-of.ts";
import type { Subject } from "../work/subjects.ts";

/** What the clients of a storm measured. */
export interface Shown {
  readonly each: readonly Measures[];
  readonly together: Measures;
}

/** Where and how a storm is measured. */
export interface StormSettings {
  readonly subject: Subject;
  readonly clients: number;
  readonly rounds: number;
}

/** Measures one storm.
 * @returns the measures of all clients together, then those of each client */
export async function measureOnce(host: Host, ask: () => Promise<Shown>): Promise<Measures[]> {
  host.takeEvents();
  let shown!: Shown;
  const cost = await measureCost(host, async () => {
    shown = await ask();
  });
  return [{ ...cost, ...shown.together, ...readMemory(host) }, ...shown.each];
}

/** Clones with all clients at once, each into its own folder. */
export async function cloneAtOnce(clients: number, clone: (dir: string) => Promise<unknown>): Promise<Shown> {
  const dir = makeTempDir("clones");
  const start = performance.now();
  const clones = Array.from({ length: clients }, async (_, index) => {
    await clone(join(dir, String(index)));
    return { "client s": (performance.now() - start) / 1000 };
  });
  try {
    return { each: await allOf(clones), together: {} };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
