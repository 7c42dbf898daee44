import { type MadeObject, makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import type { Scenario } from "./enumerate.ts";
import { takePack } from "./fetch-scenarios.ts";
import { alarms, push, refusedPush } from "./steps.ts";
import { makeFat, makeVersion } from "./versions.ts";
import { World } from "./world.ts";

const MAIN = "refs/heads/main";
const SIDE = "refs/heads/side";
const HOUR_MS = 60 * 60_000;

const first = makeVersion(null, "first");
const second = makeVersion(first, "second");
const side = makeVersion(first, "side");
const third = makeVersion(second, "third");

/** A repository with two commits on `main` and one on `side`. */
async function begin(): Promise<World> {
  const world = new World();
  await push({ [MAIN]: first.commit.oid }, first.pack).run(world);
  await push({ [MAIN]: second.commit.oid }, second.pack).run(world);
  await push({ [SIDE]: side.commit.oid }, side.pack).run(world);
  return world;
}

const fat = makeFat(second.commit.oid, "fat", 1_700_000, 1_600_000, 900_000);
const fattest = makeFat(second.commit.oid, "fattest", 9_000_000);
const medium = makeFat(second.commit.oid, "medium", 400_000);
const bad = makeCommit("ab".repeat(20), [second.commit.oid], "on nothing\n");
const HUNDRED = Object.fromEntries(
  Array.from({ length: 98 }, (_, i) => [`refs/heads/many/${i}`, i % 2 === 0 ? third.commit.oid : first.commit.oid]),
);
const tipOf = (objects: readonly MadeObject[]): string => objects.at(-1)!.oid;

/** Pushes of every kind. */
export const PUSH_SCENARIOS: readonly Scenario[] = [
  {
    name: "first push",
    begin: async () => new World(),
    steps: [push({ [MAIN]: first.commit.oid }, first.pack)],
  },
  {
    name: "first push, large",
    begin: async () => new World(),
    steps: [push({ [MAIN]: tipOf(medium) }, Buffer.from(packOfAll()), { pieceBytes: 100_000 })],
  },
  {
    name: "small push",
    begin,
    steps: [push({ [MAIN]: third.commit.oid }, third.pack), alarms(2_000)],
  },
  {
    name: "large push of three chunks",
    isLarge: true,
    begin,
    steps: [push({ [MAIN]: tipOf(fat) }, packOf(...fat), { pieceBytes: 256 * 1024 })],
  },
  {
    name: "push of a large file in parts, and the bundle",
    isLarge: true,
    begin,
    steps: [push({ [MAIN]: tipOf(fattest) }, packOf(...fattest), { pieceBytes: 256 * 1024 }), alarms(2 * 60_000)],
    async check({ repository, store }) {
      const { key, sizeBytes } = repository.tables.bundles.current()!;
      const bundle = Buffer.from(await store.read(key, 0, sizeBytes));
      await takePack(bundle.subarray(bundle.indexOf("\n\nPACK") + 2), tipOf(fattest));
    },
  },
  {
    name: "refused push, and what it left",
    begin,
    steps: [
      refusedPush({ [MAIN]: tipOf(medium) }, cut(packOf(...medium)), [MAIN]),
      alarms(2 * HOUR_MS),
      push({ [MAIN]: tipOf(medium) }, packOf(...medium)),
    ],
  },
  {
    name: "push of which one ref is refused",
    begin,
    steps: [
      refusedPush({ [MAIN]: tipOf(medium), "refs/heads/bad": bad.oid }, packOf(...medium, bad), ["refs/heads/bad"]),
    ],
  },
  {
    name: "atomic push",
    begin,
    steps: [
      refusedPush({ [MAIN]: third.commit.oid, "refs/heads/bad": bad.oid }, third.pack, [MAIN, "refs/heads/bad"], {
        atomic: true,
      }),
      push({ [MAIN]: third.commit.oid, "refs/heads/new": second.commit.oid, [SIDE]: null }, third.pack, {
        atomic: true,
      }),
    ],
  },
  {
    name: "atomic push of 100 refs",
    begin,
    steps: [push({ ...HUNDRED, [MAIN]: third.commit.oid, [SIDE]: null }, third.pack, { atomic: true })],
  },
  {
    name: "force push, and deletion",
    begin,
    steps: [push({ [MAIN]: first.commit.oid }, null), push({ [SIDE]: null }, null)],
  },
];

/** A pack with a wrong trailer. */
function cut(pack: Buffer): Buffer {
  const copy = Buffer.from(pack);
  copy[copy.length - 1]! ^= 1;
  return copy;
}

function packOfAll(): Buffer {
  const objects = [first, second].flatMap(({ commit, tree, log }) => [commit, tree, log]);
  const inner = ["first", "second"].flatMap((name) => {
    const blob = makeObject("blob", `inner ${name}\n`);
    return [blob, makeTree(["100644", "inner", blob])];
  });
  return packOf(...inner, ...objects, ...medium);
}
