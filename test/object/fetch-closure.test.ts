import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { ObjectFilter } from "../../src/base/format/filter.ts";
import { type Deepen, INFINITE_DEPTH } from "../../src/contract/fetch.ts";
import { git, makeRepository } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import {
  assemblePack,
  insertAll,
  type MadeObject,
  type MadeTreeEntry,
  makeCommit,
  makeObject,
  makeTree,
  refDelta,
} from "../harness/pack-builder.ts";
import { Random } from "../harness/random.ts";
import { encodeEntry } from "../harness/raw.ts";
import { PushedRepository } from "./pushing.ts";
import { type Parents, readParents, SimulatedClient, type SimulatedFetch } from "./simulated-client.ts";
import { testSome } from "../harness/sweep.ts";

/** Fetches of each client. */
const FETCHES = 7;

const COMMITS = 90;

let origin = "";
let parents: Parents;

beforeAll(async () => {
  origin = await makeHistory({ seed: 7, commits: COMMITS, files: 25, branches: 8, merges: 5, upheavals: 40, tags: 6 });
  parents = await readParents(origin);
});

const FILTERS: readonly (ObjectFilter | null)[] = [
  null,
  null,
  null,
  { kind: "blob:none" },
  { kind: "blob:limit", limitBytes: 900 },
  { kind: "tree", depth: 2 },
];

/** A server whose refs move while its clients live: each step moves some refs towards their final
 * values. */
class MovingServer {
  readonly pushed = new PushedRepository();
  readonly #random: Random;
  readonly #refs: [name: string, oid: string][];
  /** The ids that may be wanted. */
  readonly wantable = new Set<string>();

  constructor(random: Random, refs: readonly [name: string, oid: string][]) {
    this.#random = random;
    this.#refs = random.shuffled(refs);
  }

  /** Pushes an older state of a ref, or a new ref. */
  async advance(): Promise<void> {
    const steps = this.#random.shuffled([70, 45, 20].map((back) => `main~${back}`));
    const [name, oid] = this.#refs.pop() ?? ["refs/heads/main", "main"];
    const isFirst = this.pushed.refs().size === 0;
    const refs = isFirst ? { "refs/heads/main": steps[0]! } : { [name]: oid };
    const { refs: results } = await this.pushed.pushFrom(origin, refs);
    expect(results.filter(({ error }) => error !== null)).toEqual([]);
    for (const tip of this.pushed.refs().values()) this.wantable.add(tip);
  }

  /** Refs' ids, and some commits below them. */
  pickWants(): string[] {
    const tips = [...this.pushed.refs().values()];
    const wants = new Set(Array.from({ length: 1 + this.#random.below(2) }, () => this.#random.pick(tips)));
    if (this.#random.below(3) === 0) {
      let below = this.#random.pick(tips);
      for (let steps = this.#random.below(30); steps > 0; steps--) below = this.#below(below);
      wants.add(below);
    }
    return [...wants];
  }

  #below(oid: string): string {
    const above = parents.get(oid) ?? [];
    return above.length === 0 ? oid : this.#random.pick(above);
  }
}

/** @param isYoung a client begins with a shallow clone, so that it has several tips which its later
 * wants do not reach */
function pickDeepen(random: Random, isYoung: boolean): Deepen | null {
  if (isYoung) return { kind: "depth", depth: 1 + random.below(5) };
  switch (random.below(8)) {
    case 0:
      return { kind: "depth", depth: 1 + random.below(12) };
    case 1:
    case 2:
      return { kind: "relative", depth: 1 + random.below(6) };
    case 3:
      return { kind: "revisions", since: 1_700_000_000 + random.below(COMMITS) * 60, not: [] };
    case 4:
      return { kind: "depth", depth: INFINITE_DEPTH };
    default:
      return null;
  }
}

/** What the client says it has: everything near its refs, or a few commits anywhere. */
function pickHaves(random: Random, client: SimulatedClient): string[] {
  const commits = client.listCommits();
  switch (random.below(3)) {
    case 0:
      return commits.slice(0, 32);
    case 1:
      return commits.filter(() => random.below(6) === 0);
    default:
      return random.shuffled(commits).slice(0, 2);
  }
}

async function listRefs(): Promise<[string, string][]> {
  const lines = (await git(origin, "for-each-ref", "--format=%(refname) %(objectname)")).split("\n");
  return lines.map((line) => line.split(" ") as [string, string]);
}

// In the first one the client is sent a shallow line for a commit that it does not get.
testSome(1, [229, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "no client is left with a hole: lives %i", async (seed) => {
  const random = new Random(seed);
  const server = new MovingServer(random, await listRefs());
  for (let pushes = random.below(6); pushes >= 0; pushes--) await server.advance();
  const filter = FILTERS[seed % FILTERS.length]!;
  const client = await SimulatedClient.make(filter, parents);
  const life: (SimulatedFetch | { forgot: string })[] = [];
  for (let fetches = 0; fetches < FETCHES; fetches++) {
    const fetch = {
      wants: server.pickWants(),
      haves: pickHaves(random, client),
      deepen: pickDeepen(random, fetches < seed % 4),
      includeTag: random.below(2) === 0,
      thinPack: fetches % 2 === 0,
      ofsDelta: fetches % 3 > 0,
    };
    life.push(fetch);
    await client.fetch(server.pushed, fetch);
    expect({ life, shallow: [...client.shallow], holes: await client.findHoles() }).toMatchObject({ holes: "" });
    if (random.below(3) === 0 && client.tips.size > 1) {
      const forgot = random.pick([...client.tips]);
      client.forget(forgot);
      life.push({ forgot });
    }
    if (random.below(2) === 0) await server.advance();
  }
});

test("bases that were pushed behind their deltas go out before them", { tags: "sweep" }, async () => {
  // More objects than are looked up one by one. Of every three, the first is a delta on the second,
  // and that on the third.
  const chains = Array.from({ length: 400 }, (_, i) => {
    const [first, second, third] = ["a", "b", "c"].map((letter) => makeObject("blob", `${i} ${letter.repeat(60)}\n`));
    const delta = (of: MadeObject, on: MadeObject): Buffer =>
      encodeEntry(refDelta(on.oid, insertAll(on.content.length, of.content)));
    const entries = [delta(first!, second!), delta(second!, third!), encodeEntry(third!)];
    return { objects: [first!, second!, third!], entries };
  });
  const tree = makeTree(
    ...chains
      .flatMap(({ objects }, i) => objects.map((object, k): MadeTreeEntry => ["100644", `${i}-${k}`, object]))
      .toSorted(([, a], [, b]) => (a < b ? -1 : 1)),
  );
  const [{ objects }] = chains as [(typeof chains)[0]];
  const few = makeTree(["100644", "0-0", objects[0]!], ["100644", "0-1", objects[1]!]);
  const first = makeCommit(few);
  const second = makeCommit(tree, [first.oid]);
  const server = new PushedRepository();
  const pack = assemblePack([
    ...chains.flatMap(({ entries }) => entries),
    ...[tree, few, first, second].map((object) => encodeEntry(object)),
  ]);
  expect((await server.push([["refs/heads/main", null, second.oid]], pack)).unpack).toBe("ok");
  for (const wants of [[second.oid], [first.oid], [second.oid]]) {
    for (const ofsDelta of [true, false]) {
      const client = await SimulatedClient.make(null, new Map());
      const fetch = { wants, haves: [], deepen: null, includeTag: false, thinPack: false, ofsDelta };
      expect(await client.fetch(server, fetch)).toBe(wants[0] === first.oid ? 4 : 1204);
      expect(await client.findHoles()).toBe("");
    }
    await server.repository.runJobs(Date.now() + 60_000);
  }
});

test("no delta is sent whose base a filter held back", async () => {
  const dir = await makeRepository("shrinking");
  const commit = async (lines: number): Promise<string> => {
    const text = Array.from({ length: lines }, (_, line) => `${(line * 7919) % 4093} of ${line}\n`);
    writeFileSync(join(dir, "file.txt"), text.join(""));
    await git(dir, "add", "file.txt");
    await git(dir, "commit", "-q", "-m", `${lines} lines`);
    return git(dir, "rev-parse", "HEAD");
  };
  const server = new PushedRepository();
  const client = await SimulatedClient.make({ kind: "blob:limit", limitBytes: 900 }, new Map());
  const [long, short] = [await commit(200), await commit(60)];
  const small = await git(dir, "rev-parse", "HEAD:file.txt");
  for (const [tip, haves, objects] of [
    [long, [], 2],
    [short, [long], 3],
  ] as const) {
    await server.pushFrom(dir, { "refs/heads/main": tip });
    const count = await client.fetch(server, {
      wants: [tip],
      haves,
      deepen: null,
      includeTag: false,
      thinPack: true,
      ofsDelta: true,
    });
    expect(count).toBe(objects);
  }
  expect(await git(client.dir, "cat-file", "-s", small)).toBe(await git(dir, "cat-file", "-s", small));
  expect(await client.findHoles()).toBe("");
});
