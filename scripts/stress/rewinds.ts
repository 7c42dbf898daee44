/** Branches are forced elsewhere, deleted and made again while others clone and fetch. */
import { rmSync } from "node:fs";
import type { Random } from "../../test/harness/random.ts";
import type { Scale } from "./scale.ts";
import { MAIN, type StressedRepository } from "./stressed-repository.ts";

/** Moves of one branch in a round. */
const MOVES = 4;

/** Has each client take its branch forth and back, with clones and fetches into an old clone beside. */
export async function rewind(repository: StressedRepository, random: Random, scale: Scale): Promise<void> {
  const base = (await repository.look())?.get(MAIN);
  if (base === undefined) return;
  const old = await repository.clone("clone", true);
  const plans: (string | null)[][] = [];
  for (let i = 0; i < scale.clients; i++) plans.push(await planMoves(repository, random, base, MOVES * scale.rounds));
  let isOver = false;
  const moves = Promise.all(plans.map((plan, i) => follow(repository, `refs/heads/restless-${i}`, plan)));
  const over = moves.finally(() => (isOver = true));
  const fetches = async (): Promise<void> => {
    while (old !== null && !isOver) await repository.fetch("fetch beside force", old);
  };
  await repository.cloneBeside("clone beside force", 1, [over, fetches()]);
  if (old === null) return;
  await repository.fetch("fetch after force", old);
  rmSync(old, { recursive: true, force: true });
}

/** What a branch is to be at, one after the other: commits beside each other, of which none leads to another, and at times nothing. */
async function planMoves(
  repository: StressedRepository,
  random: Random,
  base: string,
  count: number,
): Promise<(string | null)[]> {
  const plan: (string | null)[] = [];
  for (let i = 0; i < count; i++) {
    const isDeleted = i > 0 && plan[i - 1] !== null && random.below(3) === 0;
    plan.push(isDeleted ? null : await repository.history.change(base, 1, random));
  }
  return plan;
}

async function follow(repository: StressedRepository, ref: string, plan: readonly (string | null)[]): Promise<void> {
  let old: string | null = null;
  for (const next of plan) {
    const operation = next === null ? "delete branch" : old === null ? "push new branch" : "force push";
    // After a failure nobody knows where the branch is.
    if ((await repository.push(operation, { ref, old, next }, { isForced: true })) !== true) return;
    old = next;
  }
}
