/** A repository is pushed and cloned, and grows by small pushes that a clone follows. */
import { rmSync } from "node:fs";
import type { Random } from "../../test/harness/random.ts";
import { MAIN, type StressedRepository } from "./stressed-repository.ts";

/** Files that a push changes. */
const CHANGES = [1, 10, 100];

/** Pushes everything. @returns whether there is now something to go on with */
export async function pushNew(repository: StressedRepository): Promise<boolean> {
  return (await repository.push("push new", { ref: MAIN, old: null, next: repository.history.root })) === true;
}

/** Clones it, and has the clone follow pushes of 1, 10 and 100 changed files. */
export async function transfer(repository: StressedRepository, random: Random): Promise<void> {
  const dir = await repository.clone("clone", true);
  for (const count of CHANGES.filter((some) => some <= repository.files)) {
    const old = (await repository.look())?.get(MAIN);
    if (old === undefined) continue;
    const next = await repository.history.change(old, count, random);
    await repository.push(`push ${count} changed`, { ref: MAIN, old, next });
    if (dir !== null) await repository.fetch(`fetch ${count} changed`, dir);
  }
  if (dir !== null) rmSync(dir, { recursive: true, force: true });
}
