import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { GitError } from "../../../src/base/format/errors.ts";
import { MIN_INNER_PART_BYTES } from "../../../src/base/format/limits.ts";
import { storePart } from "../../../src/base/bytes/part-upload.ts";
import { newChunkCounters } from "../../../src/base/chunks/chunk-store.ts";
import { tableExists } from "../../../src/object/store/sql/schema.ts";
import { packOf } from "../../harness/pack-builder.ts";
import { ANYONE } from "../../harness/requester.ts";
import type { Scenario, Step } from "./enumerate.ts";
import { alarms, push } from "./steps.ts";
import { makeFat, makeVersion } from "./versions.ts";
import { World } from "./world.ts";
import type { CallName } from "../../../src/contract/calls.ts";

const MAIN = "refs/heads/main";
const DAY_MS = 24 * 60 * 60_000;

const first = makeVersion(null, "first");
const second = makeVersion(first, "second");
const fat = makeFat(second.commit.oid, "fat", 700_000, 900_000);
const fatTip = fat.at(-1)!.oid;
const fatPack = Buffer.from(packOf(...fat));
const HALF = fatPack.length >>> 1;

async function ask(world: World, name: CallName, argument: unknown): Promise<unknown> {
  const outcome = await world.repository.repository.call(name, argument, ANYONE);
  if (outcome.kind === "failed") throw new GitError(outcome.code, outcome.data);
  if (outcome.kind === "unknown-repository") throw new GitError("not-found", { subject: "repository" });
  return outcome.value;
}

/** The only session, or the first of several that a client without an answer has begun. */
async function idOf(world: World): Promise<string | null> {
  return world.watch(async () => {
    const { sql } = world.repository;
    if (!tableExists(sql, "uploads")) return null;
    return sql.exec<{ id: string }>("SELECT id FROM uploads ORDER BY started_ms, id LIMIT 1").toArray()[0]?.id ?? null;
  });
}

const begin: Step = {
  name: "begin",
  async run(world) {
    if ((await idOf(world)) !== null) return;
    await ask(world, "beginUpload", { refs: [], atomic: false, options: [], sizeBytes: 0 });
  },
};

/** As the Worker stores a part. */
function put(part: number, bytes: Uint8Array): Step {
  return {
    name: `part ${part}`,
    async run(world) {
      const checksum = createHash("sha256").update(bytes).digest("hex");
      const wanted = { id: (await idOf(world))!, part, sizeBytes: bytes.length, checksum };
      const key = (await ask(world, "beginPart", wanted)) as string | null;
      if (key === null) return;
      const body = new Blob([new Uint8Array(bytes)]).stream();
      const { platform } = world.repository.repository.state;
      const chunks = platform.openChunks(newChunkCounters());
      await storePart((...bytes) => chunks.putStream(key, ...bytes), body, wanted);
      await ask(world, "addPart", { ...wanted, key });
    },
  };
}

/** @param done which step it is: with an answer lost, the session says whether it was made
 * @param pack the numbers of its parts; or what of it is in the body, and the number of the part
 * after that */
function index(done: number, pack: readonly number[] | { body: Uint8Array; from: number }, tip: string): Step {
  return {
    name: `step ${done}`,
    async run(world) {
      const id = (await idOf(world))!;
      const { steps } = (await ask(world, "readUpload", id)) as { steps: number };
      if (steps >= done) return;
      const sent = "body" in pack ? { ...pack, body: new Blob([new Uint8Array(pack.body)]).stream() } : pack;
      await ask(world, "indexStep", { id, pack: sent, tips: [tip] });
    },
  };
}

function complete(refs: Readonly<Record<string, readonly [string | null, string]>>): Step {
  return {
    name: "complete",
    async run(world) {
      const wanted = Object.entries(refs).map(([name, [old, to]]) => ({ name, old, new: to }));
      const outcomes = await ask(world, "completeUpload", { id: await idOf(world), refs: wanted, atomic: true });
      assert.deepEqual(
        outcomes,
        wanted.map(({ name }) => ({ name, refusal: null })),
      );
    },
  };
}

const end: Step = {
  name: "end",
  async run(world) {
    const id = await idOf(world);
    if (id !== null) await ask(world, "endUpload", id);
  },
};

async function start(): Promise<World> {
  const world = new World();
  await push({ [MAIN]: first.commit.oid }, first.pack).run(world);
  return world;
}

const SENT: readonly Step[] = [
  begin,
  put(7, second.pack),
  index(1, [7], second.commit.oid),
  put(2, fatPack.subarray(HALF)),
  put(1, fatPack.subarray(0, HALF)),
  index(2, [1, 2], fatTip),
];

/** Uploads in parts and steps. */
export const UPLOAD_SCENARIOS: readonly Scenario[] = [
  {
    name: "upload in two steps",
    isLarge: true,
    begin: start,
    steps: [...SENT, complete({ [MAIN]: [first.commit.oid, fatTip], "refs/heads/side": [null, second.commit.oid] })],
    check({ repository: { tables } }) {
      assert.equal(tables.uploads.count(), 0);
    },
  },
  {
    name: "upload of packs as they come, with a part behind",
    isLarge: true,
    begin: start,
    steps: [
      begin,
      index(1, { body: second.pack, from: 1 }, second.commit.oid),
      put(4, fatPack.subarray(50_000 + MIN_INNER_PART_BYTES)),
      put(3, fatPack.subarray(50_000, 50_000 + MIN_INNER_PART_BYTES)),
      index(2, { body: fatPack.subarray(0, 50_000), from: 3 }, fatTip),
      complete({ [MAIN]: [first.commit.oid, fatTip] }),
    ],
    check({ repository: { tables } }) {
      assert.equal(tables.uploads.count(), 0);
    },
  },
  {
    name: "upload that is deleted",
    isLarge: true,
    begin: start,
    steps: [...SENT, put(9, Buffer.from("never indexed")), end],
  },
  {
    name: "upload that nobody continues",
    isLarge: true,
    begin: start,
    steps: [...SENT, put(9, Buffer.from("never indexed")), alarms(2 * DAY_MS)],
    check({ repository: { tables } }) {
      assert.equal(tables.uploads.count(), 0);
    },
  },
];
