/** What clients do to repositories of a family. Each operation is of one repository, its target,
 * and knows in which states it may leave that. */
import assert from "node:assert/strict";
import { decodeBundleHeader } from "../../../src/base/format/bundle.ts";
import { OID_BYTES, toHex } from "../../../src/base/format/oid.ts";
import type { BundlePlan } from "../../../src/contract/fetch.ts";
import { MAINTENANCE_KINDS } from "../../../src/contract/upkeep.ts";
import type { PackPlan } from "../../../src/base/bytes/pack-plan.ts";
import { makeObject } from "../../harness/pack-builder.ts";
import { readPack } from "../../harness/pack-reader.ts";
import type { Random } from "../../harness/random.ts";
import { ANYONE } from "../../harness/requester.ts";
import type { RefStates } from "../faults/invariants.ts";
import type { HexCommand, PushedRepository } from "../pushing.ts";
import { type History, noise } from "../simulation/history.ts";
import type { FamilyWorld } from "./family-world.ts";

/** The refs of a repository; null: it does not exist. */
export type State = RefStates | null;

/** One request of a client. */
export interface Operation {
  readonly name: string;
  readonly target: string;
  /** The repository that it forks. */
  readonly parent?: string;
  /** The repository of which it takes commits. */
  readonly source?: string;
  /** @throws whatever fails: then it may have been done or not */
  run(): Promise<void>;
  /** The states in one of which its target is when it was done.
   * @param statesOf the states in which another repository may have been meanwhile */
  outcomes(statesOf: (id: string) => readonly State[]): readonly State[];
  /** The same request again, after a failure; null: it makes no sense any more. */
  again(): Operation | null;
}

/** What operations need. */
export interface Scene {
  readonly world: FamilyWorld;
  readonly history: History;
  readonly random: Random;
  /** The state of each repository as of now. */
  readonly states: Map<string, State>;
  /** When forks delete themselves, by id. */
  readonly expiries: Map<string, number>;
  /** Clones whose packs are still to be sent. */
  readonly clones: PlannedClone[];
  readonly nextNumber: () => number;
}

/** A clone that was planned, and not sent yet. */
export interface PlannedClone {
  readonly id: string;
  readonly tips: readonly string[];
  readonly plan: PackPlan;
  readonly plannedMs: number;
}

/** Where clients push to. */
export const BRANCHES = ["main", "side-0", "side-1", "side-2", "own"].map((name) => `refs/heads/${name}`);
const TAGS = ["v1", "v2"].map((name) => `refs/tags/${name}`);
const PATHS = ["a", "b", "c", "d/a", "d/b", "e/a"];

/** How many kinds of noise there are: a fourth of them is large. @see noise */
const NOISES = 48;

const MINUTE_MS = 60_000;

/** A push of some refs, with the objects that the repository lacks.
 * @param moves the new values; null: to be deleted */
export function push(scene: Scene, target: string, moves: ReadonlyMap<string, string | null>): Operation {
  const { world, history, random, states } = scene;
  const before = states.get(target) ?? new Map<string, string>();
  const after = new Map(before);
  for (const [name, oid] of moves) {
    if (oid === null) after.delete(name);
    else after.set(name, oid);
  }
  const had = history.closure(before.values());
  const lacked = [...history.closure(after.values(), had)].map((oid) => history.demand(oid));
  const pack = lacked.length === 0 ? null : history.pack(lacked, had, random);
  const commands = [...moves]
    .map(([name, next]): HexCommand => [name, before.get(name) ?? null, next])
    .filter(([, old, next]) => old !== next);
  const told = commands.map(([name, , next]) => `${name.slice(5)}=${next?.slice(0, 7) ?? "gone"}`).join(" ");
  return {
    name: `push of ${told}, ${lacked.length} objects in ${pack?.length ?? 0} bytes, to ${target}`,
    target,
    async run() {
      if (commands.length === 0) return;
      const { unpack, refs } = await world.ask(target, (repository) => repository.receive(commands, pack));
      assert.deepEqual([unpack, ...refs.map(({ error }) => error)], ["ok", ...commands.map(() => null)]);
    },
    outcomes: () => [after],
    // A name that nothing came of is not kept for ever.
    again: () => (states.get(target) === null && !world.isNamed(target) ? null : push(scene, target, moves)),
  };
}

/** A push as somebody at work makes it. */
export function anyPush(scene: Scene, target: string): Operation {
  const { random, states, history, world } = scene;
  const refs = states.get(target) ?? new Map<string, string>();
  const tips = [...refs.values()];
  const choice = tips.length === 0 ? 0 : random.below(12);
  if (choice < 6) return push(scene, target, new Map([[random.pick(BRANCHES), makeCommit(scene, refs)]]));
  if (choice < 7) return push(scene, target, new Map([[random.pick(TAGS), random.pick(tips)]]));
  // Whatever commit: older ones, and those of other repositories.
  if (choice < 10) return push(scene, target, new Map([[random.pick(BRANCHES), random.pick(history.commits())]]));
  const head = world.look(target).tables.refs.head();
  const others = [...refs.keys()].filter((name) => name !== head);
  return push(scene, target, new Map(others.slice(random.below(3)).map((name) => [name, null])));
}

/** A commit on top of one of the refs, or of two. */
function makeCommit({ random, history, nextNumber }: Scene, refs: RefStates): string {
  const tips = [...new Set(refs.values())];
  const parents = tips.length === 0 || random.below(12) === 0 ? [] : [random.pick(tips)];
  const files = new Map<string, string>(parents.length === 0 ? [] : history.files(parents[0]!));
  const number = nextNumber();
  const blobs = Array.from({ length: 1 + random.below(3) }, () => {
    const path = random.pick(PATHS);
    const former = files.get(path);
    const grown = former === undefined ? "" : history.demand(former).content.toString("latin1", 0, 1_000);
    const isNoise = random.below(3) === 0;
    const blob = history.add(
      isNoise ? noise(random.below(NOISES)) : makeObject("blob", Buffer.from(`${grown}line ${number}\n`, "latin1")),
    );
    files.set(path, blob.oid);
    return blob;
  });
  if (random.below(6) === 0 && tips.length > 0) parents.push(random.pick(tips));
  return history.makeCommit(files, [...new Set(parents)], `commit ${number}`, blobs).oid;
}

/** A fork, of all refs or of some branches. */
export function fork(
  scene: Scene,
  target: string,
  parent: string,
  branches: readonly string[] | null,
  lifeMs: number | null,
): Operation {
  const { world, states, history, expiries, random } = scene;
  const isTwice = random.below(4) === 0;
  return {
    name: `fork${isTwice ? ", asked for twice," : ""} of ${branches?.join() ?? "all"} from ${parent} to ${target}${lifeMs === null ? "" : " for a while"}`,
    target,
    parent,
    async run() {
      const expiresMs = lifeMs === null ? null : Date.now() + lifeMs;
      const isThere = states.get(target) !== null;
      if (expiresMs !== null && !isThere) expiries.set(target, expiresMs);
      const request = { parent, branches, expiresMs, who: null };
      const send = (): Promise<boolean> => world.ask(target, ({ repository }) => repository.fork(request));
      // Some clients lose patience, and ask again.
      const answers = await Promise.allSettled(isTwice ? [send(), send()] : [send()]);
      const made = answers.filter((answer) => answer.status === "fulfilled" && answer.value);
      assert.ok(made.length < 2, "the fork was made twice");
      for (const answer of answers) if (answer.status === "rejected") throw answer.reason;
      assert.equal(made.length, isThere ? 0 : 1, "the fork was made");
    },
    outcomes: (statesOf) =>
      states.get(target) === null
        ? statesOf(parent)
            .filter((refs) => refs !== null)
            .map((refs) => takeOver(history, refs, branches))
        : [states.get(target)!],
    again() {
      const refs = states.get(parent)!;
      if (refs === null || takeOver(history, refs, branches) === null) return null;
      return fork(scene, target, parent, branches, lifeMs);
    },
  };
}

/** The refs that a fork has of its parent's; null: a branch is missing. */
function takeOver(history: History, refs: RefStates, branches: readonly string[] | null): State {
  if (branches === null) return refs;
  const names = branches.map((branch) => `refs/heads/${branch}`);
  if (names.some((name) => !refs.has(name))) return null;
  const reached = history.closure(names.map((name) => refs.get(name)!));
  return new Map(
    [...refs].filter(([name, oid]) => names.includes(name) || (name.startsWith("refs/tags/") && reached.has(oid))),
  );
}

/** A fork as somebody makes it. */
export function anyFork(scene: Scene, target: string, parent: string): Operation {
  const { random, states } = scene;
  const branches = [...states.get(parent)!.keys()].filter((name) => name.startsWith("refs/heads/"));
  const chosen = random.shuffled(branches).slice(0, 1 + random.below(2));
  const isWhole = chosen.length === 0 || random.below(2) === 0;
  const lifeMs = random.below(5) === 0 ? random.pick([MINUTE_MS, 90 * MINUTE_MS, 2 * 24 * 60 * MINUTE_MS]) : null;
  return fork(scene, target, parent, isWhole ? null : chosen.map((name) => name.slice(11)), lifeMs);
}

/** A new repository with all that another one has, from a backup. */
export function restore(scene: Scene, target: string, source: string): Operation {
  const { world, states } = scene;
  return {
    name: `restore of ${source} as ${target}`,
    target,
    parent: source,
    async run() {
      const outcome = await world.ask(source, ({ repository }) => repository.call("planBackup", undefined, ANYONE));
      // There is no backup of a repository without refs.
      if (outcome.kind === "unknown-repository" || (outcome.kind === "failed" && outcome.code === "not-found")) return;
      assert.equal(outcome.kind, "done", JSON.stringify(outcome));
      const { header, plan } = (outcome as { value: BundlePlan }).value;
      const pack = await world.ask(source, (repository) => repository.stream(plan));
      const { names, oids } = decodeBundleHeader(header).header;
      const commands = names
        .map((name, i): HexCommand => [name, null, toHex(oids, i * OID_BYTES)])
        .filter(([name]) => name !== "HEAD");
      const send = (repository: PushedRepository) => repository.receive(commands, pack, { atomic: true });
      const { unpack, refs } = await world.ask(target, send);
      assert.deepEqual([unpack, ...refs.map(({ error }) => error)], ["ok", ...commands.map(() => null)]);
    },
    outcomes: (statesOf) => statesOf(source).map((refs) => (refs === null || refs.size === 0 ? null : refs)),
    again() {
      const isPossible = states.get(target) === null && states.get(source) !== null && world.isNamed(target);
      return isPossible ? restore(scene, target, source) : null;
    },
  };
}

/** The deletion of a repository. */
export function remove(scene: Scene, target: string): Operation {
  return {
    name: `deletion of ${target}`,
    target,
    run: async () => void (await scene.world.ask(target, ({ repository }) => repository.delete())),
    outcomes: () => [null],
    again: () => remove(scene, target),
  };
}

/** Jobs that run at once. */
export function maintain(scene: Scene, target: string): Operation {
  const kinds = MAINTENANCE_KINDS.filter(() => scene.random.below(2) === 0);
  return {
    name: `${kinds.join(", ")} of ${target}`,
    target,
    async run() {
      const { kind } = await scene.world.ask(target, ({ repository }) => repository.call("maintain", kinds, ANYONE));
      assert.equal(kind, "done");
    },
    outcomes: () => [scene.states.get(target)!],
    again: () => null,
  };
}

/** A clone that is planned; its pack is sent later. @see sendClones */
export function clone(scene: Scene, target: string): Operation {
  const { world, states, clones } = scene;
  const tips = [...new Set(states.get(target)!.values())];
  return {
    name: `clone of ${target}`,
    target,
    async run() {
      if (tips.length === 0) return;
      const plan = await world.ask(target, (repository) => repository.planClone(...tips));
      clones.push({ id: target, tips, plan, plannedMs: Date.now() });
    },
    outcomes: () => [states.get(target)!],
    again: () => clone(scene, target),
  };
}

/** Sends the packs of clones that were planned in repositories which exist still, and checks them.
 * @throws AssertionError */
export async function sendClones({ world, history, clones, states }: Scene): Promise<void> {
  for (const { id, tips, plan } of clones.splice(0)) {
    if (states.get(id) === null) continue;
    const pack = await world.look(id).stream(plan);
    const sent = readPack(pack, () => undefined).map(({ oid }) => oid);
    assert.deepEqual(sent.toSorted(), [...history.closure(tips)].toSorted(), `the clone of ${id}`);
  }
}
