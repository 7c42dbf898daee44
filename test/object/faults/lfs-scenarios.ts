import assert from "node:assert/strict";
import { storePart } from "../../../src/base/bytes/part-upload.ts";
import { GitError } from "../../../src/base/format/errors.ts";
import type { LfsCompletion, LfsBatchAnswer, LfsUploadStatus, StoredLfsObject } from "../../../src/contract/lfs.ts";
import { newChunkCounters } from "../../../src/base/chunks/chunk-store.ts";
import { tableExists } from "../../../src/object/store/sql/schema.ts";
import { type ClientObject, objectOf, pointerOf } from "../../harness/lfs.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { ANYONE } from "../../harness/requester.ts";
import type { Scenario, Step } from "./enumerate.ts";
import { alarms, push } from "./steps.ts";
import { makeVersion } from "./versions.ts";
import { World } from "./world.ts";
import type { CallName } from "../../../src/contract/calls.ts";

const MAIN = "refs/heads/main";
const DAY_MS = 24 * 60 * 60_000;

const first = makeVersion(null, "first");
const named = objectOf("content that a pointer names");
const unnamed = objectOf("content that nothing names");
const sent = objectOf("content that the client sends to the bucket");
const inParts = objectOf("content that comes in six parts, of up to ten bytes");
const givenUp = objectOf("content whose upload in parts is given up");
const pointer = makeObject("blob", pointerOf(named));
const tree = makeTree(["100644", "a.bin", pointer]);
const commit = makeCommit(tree, [first.commit.oid], "pointer\n");

async function ask(world: World, name: CallName, argument: unknown): Promise<unknown> {
  const outcome = await world.repository.repository.call(name, argument, ANYONE);
  if (outcome.kind === "failed") throw new GitError(outcome.code, outcome.data);
  if (outcome.kind === "unknown-repository") throw new GitError("not-found", { subject: "repository" });
  return outcome.value;
}

/** As the Worker stores an object. */
function put({ oid, size, bytes }: ClientObject): Step {
  return {
    name: "put",
    async run(world) {
      const object = { oid, sizeBytes: size };
      const key = (await ask(world, "beginLfsObject", object)) as string | null;
      if (key === null) return;
      const { platform } = world.repository.repository.state;
      const body = new Blob([new Uint8Array(bytes)]).stream();
      const chunks = platform.openChunks(newChunkCounters());
      await storePart((...sent) => chunks.putStream(key, ...sent), body, { sizeBytes: size, checksum: oid });
      await ask(world, "addLfsObject", { ...object, key });
    },
  };
}

/** As a client sends an object to the bucket itself, and has it verified. */
function send({ oid, size, bytes }: ClientObject): Step {
  return {
    name: "send",
    async run(world) {
      const objects = [{ oid, sizeBytes: size }];
      const batch = { operation: "upload", objects, ref: null, largestBytes: 1_000, signedAboveBytes: 0 };
      const { begun } = (await ask(world, "lfsBatch", batch)) as LfsBatchAnswer;
      if (begun.length === 0) return;
      const [{ key }] = begun as [StoredLfsObject];
      await world.repository.repository.state.platform.openChunks(newChunkCounters()).put(key, bytes);
      const upload = key.slice(key.lastIndexOf("-") + 1);
      assert.equal(await ask(world, "findSignedUpload", { oid, upload }), key);
      await ask(world, "addLfsObject", { oid, sizeBytes: size, key });
    },
  };
}

/** Bytes of a part in these scenarios. */
const PART_BYTES = 10;

/** The upload that is under way; null: none. */
async function findUpload(world: World, { oid }: ClientObject): Promise<{ id: string; oid: string } | null> {
  return world.watch(() => {
    const { sql } = world.repository;
    if (!tableExists(sql, "lfs_uploads")) return null;
    const query = "SELECT id, oid FROM lfs_uploads WHERE oid = ? LIMIT 1";
    return sql.exec<{ id: string; oid: string }>(query, oid).toArray()[0] ?? null;
  });
}

/** As the agent sends an object: what was cut goes on.
 * @param parts their numbers, in this order */
async function sendParts(world: World, object: ClientObject, parts: readonly number[]): Promise<void> {
  const { oid, size, bytes } = object;
  let name = await findUpload(world, object);
  if (name === null) {
    const begun = await ask(world, "beginLfsUpload", { oid, sizeBytes: size, largestPartBytes: PART_BYTES });
    if (begun === null) return;
    name = { id: (begun as LfsUploadStatus).id, oid };
  }
  const status = (await ask(world, "readLfsUpload", name)) as LfsUploadStatus;
  const chunks = world.repository.repository.state.platform.openChunks(newChunkCounters());
  for (const part of parts) {
    if (status.parts.includes(part)) continue;
    const piece = bytes.subarray((part - 1) * PART_BYTES, part * PART_BYTES);
    const wanted = { ...name, part, sizeBytes: piece.length, checksum: objectOf(piece).oid };
    const place = (await ask(world, "beginLfsPart", wanted)) as { key: string; write: string };
    const write = chunks.resumeMultipart(place.key, place.write);
    const body = new Blob([new Uint8Array(piece)]).stream();
    const tag = await storePart((...sent) => write.putPart(part, ...sent), body, wanted);
    await ask(world, "addLfsPart", { ...wanted, tag });
  }
}

const sendInParts: Step = {
  name: "send in parts",
  async run(world) {
    await sendParts(world, inParts, [3, 1, 2, 6, 5, 4]);
    const name = await findUpload(world, inParts);
    if (name === null) return;
    const { isDone } = (await ask(world, "completeLfsUpload", name)) as LfsCompletion;
    assert.ok(isDone);
  },
};

const giveUp: Step = {
  name: "give an upload up",
  async run(world) {
    await sendParts(world, givenUp, [2]);
    const name = await findUpload(world, givenUp);
    if (name !== null) await ask(world, "endLfsUpload", name);
  },
};

/** Objects of Git LFS, a push that names one, and what becomes of the others. */
export const LFS_SCENARIOS: readonly Scenario[] = [
  {
    name: "LFS objects, a push and housekeeping",
    async begin() {
      const world = new World();
      await push({ [MAIN]: first.commit.oid }, first.pack).run(world);
      return world;
    },
    steps: [
      put(named),
      put(unnamed),
      send(sent),
      push({ [MAIN]: commit.oid }, Buffer.from(packOf(commit, tree, pointer))),
      alarms(30 * DAY_MS),
    ],
    check({ repository: { tables } }) {
      // A job that was cut off may find the other one only weeks later; the keys must agree always.
      assert.notEqual(tables.lfs.find(named.oid), null);
    },
  },
  {
    name: "LFS objects in parts, one given up",
    async begin() {
      const world = new World();
      await push({ [MAIN]: first.commit.oid }, first.pack).run(world);
      return world;
    },
    steps: [giveUp, sendInParts, put(named), push({ [MAIN]: commit.oid }, Buffer.from(packOf(commit, tree, pointer)))],
    check({ store, repository: { tables } }) {
      assert.equal(tables.lfsUploads.count(), 0);
      assert.equal(tables.lfs.find(givenUp.oid), null);
      // Where the answer to its beginning was lost, nobody knows a write's id: the bucket drops it.
      assert.ok(store.writes.length <= 1, "parts that nothing removes");
    },
  },
];
