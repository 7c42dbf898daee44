/** The phases: what clients do to one repository at the same time. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, listRefs } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { demandSame, WrongAnswer } from "../verify/report.ts";
import { fetchCommit, readSeen, RestClient } from "./rest-client.ts";
import { MAIN, type StressedRepository } from "./stressed-repository.ts";

/** The scale of the phases. */
export interface Scale {
  /** Concurrent clients that push or use the API. */
  readonly clients: number;
  /** Rounds of each race. */
  readonly rounds: number;
  /** Requests of the API by each client. */
  readonly requests: number;
}

/** Concurrent clones beside pushes. */
const CLONERS = 2;

/** Files that a push changes as a repository grows. */
const CHANGES = [1, 10, 100];

/** Maximum number of files that a racing push changes. */
const MOST_CHANGES = 10;

/** Moves of each branch in a round of rewinds. */
const MOVES = 4;

/** All phases by name, in order. */
export const PHASES = { transfers: transfer, races: race, rest: mixRest, rewinds: rewind, cuts: cloneCut } as const;

/** Clones the repository, then fetches pushes of 1, 10 and 100 changed files into the clone. */
async function transfer(repository: StressedRepository, random: Random): Promise<void> {
  const dir = await repository.clone("clone", true);
  for (const count of CHANGES.filter((some) => some <= repository.files)) {
    await repository.grow(`push ${count} changed`, count, random);
    if (dir !== null) await repository.fetch(`fetch ${count} changed`, dir);
  }
  if (dir !== null) rmSync(dir, { recursive: true, force: true });
}

/** Clients push at once, to branches of their own and to a shared one, while others clone. */
async function race(repository: StressedRepository, random: Random, { clients, rounds }: Scale): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const base = (await repository.look())?.get(MAIN);
    if (base === undefined) return;
    const tips: string[] = [];
    for (let i = 0; i < clients; i++)
      tips.push(await repository.history.change(base, 1 + random.below(MOST_CHANGES), random));
    await raceApart(repository, tips, round);
    await raceTogether(repository, base, tips);
  }
}

/** Every client pushes to its own branch: all must succeed. */
async function raceApart(repository: StressedRepository, tips: readonly string[], round: number): Promise<void> {
  const operation = "racing push, own branch";
  const gate = makeGate(tips.length);
  const pushes = tips.map(async (next, i) => {
    const move = { ref: `refs/heads/own-${round}-${i}`, old: null, next };
    if ((await repository.push(operation, move, { gate })) !== false) return;
    await repository.check(operation, () => {
      throw new WrongAnswer(`own-${round}-${i}, a branch of its own, was refused as moved`);
    });
  });
  await repository.cloneBeside("clone beside pushes", CLONERS, pushes);
}

/** All push to one branch from the same commit: one wins, the others are told that their base is
 * outdated. */
async function raceTogether(repository: StressedRepository, base: string, tips: readonly string[]): Promise<void> {
  const operation = "racing push, one branch";
  const gate = makeGate(tips.length);
  const pushes = tips.map((next) => repository.push(operation, { ref: MAIN, old: base, next }, { gate }));
  await repository.cloneBeside("clone beside pushes", CLONERS, pushes);
  const outcomes = await Promise.all(pushes);
  const winners = outcomes.filter((outcome) => outcome === true).length;
  // A push that failed, which is reported already, may have moved it.
  if (winners === 1 || (winners === 0 && outcomes.includes(null))) return;
  await repository.check(operation, () => {
    throw new WrongAnswer(`${winners} of ${tips.length} pushes to one branch from the same commit were acknowledged`);
  });
}

/** Clients use the API while one pushes and one clones. */
async function mixRest(repository: StressedRepository, random: Random, { clients, requests }: Scale): Promise<void> {
  const seen = await readSeen(repository);
  if (seen === null) return;
  const users = Array.from({ length: clients }, (_, i) => {
    return new RestClient(repository, new Random(random.below(2 ** 32)), seen, `api-${i}`).work(requests);
  });
  let isOver = false;
  const over = Promise.all(users).finally(() => (isOver = true));
  // To the branch to which the API commits. A push that is refused because of that starts again.
  const push = async (): Promise<void> => {
    while (!isOver) {
      const old = (await repository.look())?.get(MAIN);
      const isKnown =
        old !== undefined && (await repository.check("fetch of the branch", () => fetchCommit(repository, old)));
      if (!isKnown) return;
      const next = await repository.history.change(old, 1, random);
      if ((await repository.push("push beside REST", { ref: MAIN, old, next })) === true) seen.add(next);
    }
  };
  await repository.cloneBeside("clone beside REST", 1, [over, push()]);
}

/** Branches are forced elsewhere, deleted and made again, while others clone and fetch. */
async function rewind(repository: StressedRepository, random: Random, { clients, rounds }: Scale): Promise<void> {
  const base = (await repository.look())?.get(MAIN);
  if (base === undefined) return;
  const old = await repository.clone("clone", true);
  const plans: (string | null)[][] = [];
  for (let i = 0; i < clients; i++) plans.push(await planMoves(repository, random, base, MOVES * rounds));
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

/** The successive values of a branch: commits none of which is reachable from another, and
 * sometimes none. */
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
    // After a failure the branch's value is unknown.
    if ((await repository.push(operation, { ref, old, next }, { isForced: true })) !== true) return;
    old = next;
  }
}

/** Longest wait for the others, in hundredths of a second: a push that fails never arrives. */
const MOST_WAITS = 1_000;

/** Makes a gate that opens when this many pushes have read the refs and have sent nothing yet: at
 * that point git runs the hook `pre-push`.
 * @returns git's options that make it wait at the gate
 * @see githooks(5) */
function makeGate(pushes: number): readonly string[] {
  const dir = makeTempDir("gate");
  const hook = `#!/bin/sh
cat >/dev/null
: >'${dir}'/arrived-$$
waits=0
set -- '${dir}'/arrived-*
while [ $# -lt ${pushes} ] && [ $waits -lt ${MOST_WAITS} ]; do
  sleep 0.01
  waits=$((waits + 1))
  set -- '${dir}'/arrived-*
done
`;
  writeFileSync(join(dir, "pre-push"), hook, { mode: 0o755 });
  return ["-c", `core.hooksPath=${dir}`];
}

/** Commits on top of the first, so that history can be truncated. */
const COMMITS = 4;

const SHALLOW = "--depth=1";
const PARTIAL = "--filter=blob:none";

/** Options of clones. The time is later than the first commit, and earlier than all others. */
const KINDS = [
  SHALLOW,
  "--depth=3",
  "--shallow-since=1700000030 +0000",
  PARTIAL,
  "--filter=blob:limit=1k",
  "--filter=tree:0",
];

/** Makes clones of every kind at once. Two of them continue: one is deepened to the whole history,
 * one fetches a missing blob. */
async function cloneCut(
  repository: StressedRepository,
  random: Random,
  { rounds }: { readonly rounds: number },
): Promise<void> {
  for (let i = 0; i < COMMITS; i++) await repository.grow("push 1 changed", 1, random);
  const whole = await repository.clone("clone", true);
  if (whole === null) return;
  await git(whole, "config", "uploadpack.allowFilter", "true");
  for (let round = 0; round < rounds; round++)
    await Promise.all(KINDS.map((option) => cloneKind(repository, whole, option, random)));
  rmSync(whole, { recursive: true, force: true });
}

async function cloneKind(repository: StressedRepository, whole: string, option: string, random: Random): Promise<void> {
  const { target, url } = repository;
  const operation = `clone ${option.split(/ |(?<=limit)=|(?<=since)=/)[0]}`;
  const dir = makeTempDir("cut");
  const [served, native] = [join(dir, "served.git"), join(dir, "native.git")];
  const command = ["clone", "-q", "--bare", option];
  if ((await repository.run(operation, () => target.demandGit(dir, ...command, url, served))) !== null) {
    await repository.verifyCut(operation, served, async () => {
      await git(dir, ...command, `file://${whole}`, native);
      demandSame("what is in it", await tellContents(served), await tellContents(native));
    });
    if (option === SHALLOW) await deepen(repository, whole, served);
    if (option === PARTIAL) await readLacking(repository, served, random);
  }
  rmSync(dir, { recursive: true, force: true });
}

async function deepen(repository: StressedRepository, whole: string, dir: string): Promise<void> {
  const operation = "fetch --unshallow";
  const args = ["fetch", "-q", "--unshallow", repository.url, "+refs/*:refs/*"];
  if ((await repository.run(operation, () => repository.target.demandGit(dir, ...args))) === null) return;
  await repository.verifyCut(operation, dir, async () => {
    demandSame("what is in it", await tellContents(dir), await tellContents(whole));
  });
}

async function readLacking(repository: StressedRepository, dir: string, random: Random): Promise<void> {
  const name = `${MAIN}:${repository.history.pickPath(random)}`;
  const [operation, oid] = ["fetch of a lacking blob", await git(dir, "rev-parse", name)];
  const blob = ["cat-file", "blob", oid];
  const found = await repository.run(operation, () => repository.target.demandGit(dir, ...blob));
  if (found === null) return;
  await repository.check(operation, async () => {
    demandSame(name, found.stdoutBytes, await repository.history.tellBytes(...blob));
  });
}

/** Refs, all present objects, and the shallow boundary. */
async function tellContents(dir: string): Promise<string> {
  const objects = await git(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)");
  const shallow = join(dir, "shallow");
  const cut = existsSync(shallow) ? readFileSync(shallow, "utf8").split("\n").toSorted().join("\n") : "";
  return [await listRefs(dir), objects, cut].join("\n");
}
