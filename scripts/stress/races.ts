/** Clients push at once, to branches of their own and to one, while others clone. */
import type { Random } from "../../test/harness/random.ts";
import { makeGate } from "./gate.ts";
import type { Scale } from "./scale.ts";
import { MAIN, type StressedRepository } from "./stressed-repository.ts";
import { WrongAnswer } from "./tally.ts";

/** Clones under way at a time, beside pushes. */
const CLONERS = 2;

/** Files that a racing push changes. */
const MOST_CHANGES = 10;

/** Races for some rounds. */
export async function race(repository: StressedRepository, random: Random, scale: Scale): Promise<void> {
  for (let round = 0; round < scale.rounds; round++) {
    const base = (await repository.look())?.get(MAIN);
    if (base === undefined) return;
    const tips: string[] = [];
    for (let i = 0; i < scale.clients; i++) {
      tips.push(await repository.history.change(base, 1 + random.below(MOST_CHANGES), random));
    }
    await raceApart(repository, tips, round);
    await raceTogether(repository, base, tips);
  }
}

/** Every client has a branch of its own: all must win. */
async function raceApart(repository: StressedRepository, tips: readonly string[], round: number): Promise<void> {
  const operation = "racing push, own branch";
  const gate = makeGate(tips.length);
  const pushes = tips.map(async (next, i) => {
    const move = { ref: `refs/heads/own-${round}-${i}`, old: null, next };
    const isAcknowledged = await repository.push(operation, move, { gate });
    if (isAcknowledged !== false) return;
    await repository.check(operation, async () => {
      throw new WrongAnswer(`own-${round}-${i}, a branch of its own, was refused as moved`);
    });
  });
  await repository.cloneBeside("clone beside pushes", CLONERS, pushes);
}

/** All push to one branch what they have made of the same commit: one wins, the others are told that they are late. */
async function raceTogether(repository: StressedRepository, base: string, tips: readonly string[]): Promise<void> {
  const operation = "racing push, one branch";
  const gate = makeGate(tips.length);
  const pushes = tips.map((next) => repository.push(operation, { ref: MAIN, old: base, next }, { gate }));
  await repository.cloneBeside("clone beside pushes", CLONERS, pushes);
  const outcomes = await Promise.all(pushes);
  const winners = outcomes.filter((outcome) => outcome === true).length;
  // What failed, and is told already, may have moved it.
  if (winners === 1 || (winners === 0 && outcomes.includes(null))) return;
  await repository.check(operation, async () => {
    throw new WrongAnswer(`${winners} of ${tips.length} pushes to one branch from the same commit were acknowledged`);
  });
}
