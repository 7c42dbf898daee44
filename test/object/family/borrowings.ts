/** What a repository of a family takes from another one: branches that follow, and merges. */
import assert from "node:assert/strict";
import type { BranchAnswer, MergeKind } from "../../../src/contract/merges.ts";
import { readPack } from "../../harness/pack-reader.ts";
import { ANYONE } from "../../harness/requester.ts";
import type { RefStates } from "../faults/invariants.ts";
import type { History } from "../simulation/history.ts";
import { BRANCHES, type Operation, type Scene, type State } from "./operations.ts";

/** A branch that follows the one of the same name in another repository. */
export function sync(scene: Scene, target: string, source: string, branch: string): Operation {
  const { world, states, history } = scene;
  const name = `refs/heads/${branch}`;
  const after = (before: RefStates, theirs: State): RefStates => {
    const [old, tip] = [before.get(name), theirs?.get(name)];
    const isForward = tip !== undefined && (old === undefined || history.closure([tip]).has(old));
    return isForward ? new Map([...before, [name, tip]]) : before;
  };
  return {
    name: `sync of ${branch} of ${target} from ${source}`,
    target,
    source,
    async run() {
      const argument = { branch, source: { repository: source, branch } };
      const outcome = await world.ask(target, ({ repository }) => repository.call("syncBranch", argument, ANYONE));
      const isRefused = outcome.kind === "failed" && ["conflict", "not-found"].includes(outcome.code);
      assert.ok(outcome.kind === "done" || isRefused, JSON.stringify(outcome));
    },
    outcomes(statesOf) {
      const before = states.get(target)!;
      return before === null ? [before] : statesOf(source).map((theirs) => after(before, theirs));
    },
    // It may have deleted itself.
    again: () => (states.get(target) === null ? null : sync(scene, target, source, branch)),
  };
}

/** A merge of another repository's branch, or a try of one: whatever comes of that, it leaves
 * nothing.
 * @param into the target's branch */
export function merge(
  scene: Scene,
  target: string,
  source: string,
  branch: string,
  into: string,
  isDryRun: boolean,
): Operation {
  const { world, states, history } = scene;
  const name = `refs/heads/${into}`;
  const ident = { name: "Ada", email: "ada@example.com", timeSeconds: 1_700_000_000, zone: "+0000" };
  const argument = {
    branch: into,
    head: `${source}:${branch}`,
    source: { repository: source, branch },
    expected: null,
    fastForward: "never",
    isDryRun,
    message: null,
    author: ident,
    committer: ident,
  };
  /** The merge commit, null: none was made; undefined: nobody was told. */
  let made: string | null | undefined = isDryRun ? null : undefined;
  return {
    name: `${isDryRun ? "try of merging" : "merge of"} ${branch} of ${source} into ${into} of ${target}`,
    target,
    source,
    async run() {
      const outcome = await world.ask(target, ({ repository }) => repository.call("merge", argument, ANYONE));
      const isRefused = outcome.kind === "failed" && ["conflict", "not-found"].includes(outcome.code);
      assert.ok(outcome.kind === "done" || isRefused, JSON.stringify(outcome));
      const answer = outcome.kind === "done" ? (outcome.value as BranchAnswer<MergeKind>) : null;
      made = answer?.kind === "merge" ? answer.commit : null;
    },
    outcomes(statesOf) {
      const before = states.get(target)!;
      if (made === null || before === null) return [before];
      const theirs = statesOf(source).map((refs) => refs?.get(`refs/heads/${branch}`));
      const merged = history.commits().filter((commit) => {
        const [, ours, other, ...more] = history.links(commit);
        const isMerge = ours === before.get(name) && theirs.includes(other) && more.length === 0;
        return isMerge && (made ?? commit) === commit;
      });
      const after = merged.map((commit) => new Map([...before, [name, commit]]));
      return made === undefined ? [before, ...after] : after;
    },
    again: () => (states.get(target) === null ? null : merge(scene, target, source, branch, into, isDryRun)),
  };
}

/** Enters what a repository has made itself into the history.
 * @returns how many of its refs point at such commits */
export async function learn({ world, history }: Scene, id: string, refs: State): Promise<number> {
  const unknown = [...new Set(refs?.values())].filter((oid) => history.get(oid) === undefined);
  if (unknown.length === 0) return 0;
  const repository = world.look(id);
  for (const object of readPack(await repository.clone(...unknown), () => undefined)) history.add(object);
  return unknown.length;
}

/** A branch that goes from one repository to another, as somebody wants it. */
export function anyBorrowing(scene: Scene, target: string, source: string): Operation {
  const { random, states } = scene;
  const [theirs, ours] = [source, target].map((id) => branchesOf(states.get(id)!));
  const short = (names: readonly string[]): string => random.pick(names.length === 0 ? BRANCHES : names).slice(11);
  if (random.below(2) === 0) return sync(scene, target, source, short(theirs!));
  const pairs = theirs!.flatMap((from) => ours!.map((into) => [from, into] as const));
  // Many pairs conflict, or have nothing new.
  const clean = pairs.filter(([from, into]) =>
    mergesCleanly(scene.history, states.get(target)!.get(into)!, states.get(source)!.get(from)!),
  );
  const isDryRun = random.below(2) === 0;
  const [from, into] = clean.length > 0 ? random.pick(clean) : [random.pick(BRANCHES), random.pick(BRANCHES)];
  return merge(scene, target, source, short([from]), short([into]), isDryRun);
}

const branchesOf = (refs: RefStates): string[] => [...refs.keys()].filter((name) => name.startsWith("refs/heads/"));

/** Whether a commit has something that another one lacks, and no file was changed on both sides. */
function mergesCleanly(history: History, ours: string, theirs: string): boolean {
  const [own, other] = [history.closure([ours]), history.closure([theirs])];
  if (own.has(theirs)) return false;
  const common = history.commits().filter((oid) => own.has(oid) && other.has(oid));
  const bases = common.filter((oid) => !common.some((child) => history.links(child).includes(oid)));
  if (bases.length !== 1) return false;
  const [base, mine, yours] = [bases[0]!, ours, theirs].map((oid) => history.files(oid));
  return [...base!.keys(), ...mine!.keys(), ...yours!.keys()].every(
    (path) => mine!.get(path) === base!.get(path) || yours!.get(path) === base!.get(path),
  );
}
