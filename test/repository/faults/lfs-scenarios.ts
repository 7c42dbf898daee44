import assert from "node:assert/strict";
import { storePart } from "../../../src/repository/upload/part-upload.ts";
import type { CallName } from "../../../src/repository/calls.ts";
import { GitError } from "../../../src/format/errors.ts";
import type { LfsBatchAnswer } from "../../../src/repository/lfs/lfs-objects.ts";
import type { StoredLfsObject } from "../../../src/store/lfs/lfs-table.ts";
import { newChunkCounters } from "../../../src/store/chunks/chunk-store.ts";
import { type ClientObject, objectOf, pointerOf } from "../../harness/lfs.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { ANYONE } from "../../harness/requester.ts";
import type { Scenario, Step } from "./enumerate.ts";
import { alarms, push } from "./steps.ts";
import { makeVersion } from "./versions.ts";
import { World } from "./world.ts";

const MAIN = "refs/heads/main";
const DAY_MS = 24 * 60 * 60_000;

const first = makeVersion(null, "first");
const named = objectOf("content that a pointer names");
const unnamed = objectOf("content that nothing names");
const sent = objectOf("content that the client sends to the bucket");
const pointer = makeObject("blob", pointerOf(named));
const tree = makeTree(["100644", "a.bin", pointer]);
const commit = makeCommit(tree, [first.commit.oid], "pointer\n");

async function ask(world: World, name: CallName, argument: unknown): Promise<unknown> {
  const outcome = await world.repository.repository.call(name, argument, ANYONE);
  if (outcome.kind === "failed") throw new GitError(outcome.code, outcome.data);
  if (outcome.kind === "unknown-repository") throw new GitError("not-found", { what: "repository" });
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
      await storePart(platform.openChunks(newChunkCounters()), key, body, { sizeBytes: size, checksum: oid });
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
      const batch = { operation: "upload", objects, ref: null, signedAboveBytes: 0 };
      const { begun } = (await ask(world, "lfsBatch", batch)) as LfsBatchAnswer;
      if (begun.length === 0) return;
      const [{ key }] = begun as [StoredLfsObject];
      await world.repository.repository.state.platform.openChunks(newChunkCounters()).put(key, bytes);
      const upload = key.slice(key.lastIndexOf("-") + 1);
      assert.equal(await ask(world, "findLfsUpload", { oid, upload }), key);
      await ask(world, "addLfsObject", { oid, sizeBytes: size, key });
    },
  };
}

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
];
