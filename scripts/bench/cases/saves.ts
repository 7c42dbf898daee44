/** Files changed and made by writers who do not meet. */
import type { Sample } from "../figures/sample.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { Ledger } from "../work/ledger.ts";
import { type Loop, measureLoops, type Shape } from "../work/save-loop.ts";
import type { Spike } from "../work/spikes.ts";
import { Stores } from "../work/stores.ts";

/** What the loops of saving have in common. */
export interface SavePlan {
  readonly perFolder: number;
  /** @see LoopPlan */
  readonly samples: number;
  readonly rounds: number;
  /** Of each writer. */
  readonly warmUp: number;
  /** @see LoopPlan */
  readonly restMs: number;
  readonly hasWorktree: boolean;
}

/** What came of loops whose saves are all there. */
export interface Saves {
  readonly samples: readonly Sample[];
  readonly spikes: readonly Spike[];
}

/** Loops of some shapes on the same repositories.
 * @param phases in their order; those that make files come last, as repositories grow by them
 * @param shapes of as many files and branches */
export async function measureSaves(
  phases: readonly ("add" | "modify")[],
  shapes: readonly Shape[],
  plan: SavePlan,
  hosts: Hosts,
): Promise<Saves> {
  const { files, branches } = shapes[0]!;
  const repositories = Math.max(...shapes.map((shape) => shape.repositories));
  const stores = await Stores.open(hosts, { ...plan, files, branches, repositories });
  const ledger = new Ledger();
  const loops: Saves[] = [];
  for (const phase of phases) {
    const together: Loop[] = [];
    for (const shape of shapes) {
      const lanes = await stores.openLanes(shape);
      together.push({ plan: { ...plan, phase, edits: phase, shape, isContended: false }, lanes });
    }
    loops.push(await measureLoops(together, ledger));
  }
  process.stderr.write(`${await ledger.check()} saves are all there, and every object is sound\n`);
  return { samples: loops.flatMap(({ samples }) => samples), spikes: loops.flatMap(({ spikes }) => spikes) };
}
