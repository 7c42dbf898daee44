/** Reads while R2 fails, or truncates or alters its answers: they end with an error or are correct,
 * and the next read is correct. */
import assert from "node:assert/strict";
import { beforeAll, expect, test } from "vitest";
import { instantiateCodec } from "../../../src/base/codec/codec.ts";
import wasm from "../../../src/base/codec/holdfast.wasm";
import { BlobReader } from "../../../src/worker/files/blob-reader.ts";
import { readPieces, readPlanned } from "../../../src/worker/files/planned-files.ts";
import { ANYONE } from "../../harness/requester.ts";
import type { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { readClone, takePack } from "./fetch-scenarios.ts";
import { push } from "./steps.ts";
import { makeVersion } from "./versions.ts";
import { faultsAt, type Places } from "./fault-points.ts";
import { World } from "./world.ts";
import { testSome } from "../../harness/sweep.ts";
import { type CallName, newClient, type RepositoryClient } from "../../../src/contract/calls.ts";

const MAIN = "refs/heads/main";
/** Each in an R2 object of its own; the large file of the last one in several parts. */
const first = makeVersion(null, "first", 300_000);
const second = makeVersion(first, "second", 300_000);
const third = makeVersion(second, "third", 300_000, 1_500_000);

const codec = instantiateCodec(wasm);
let world: World;

beforeAll(async () => {
  world = new World();
  for (const { commit, pack } of [first, second, third]) await push({ [MAIN]: commit.oid }, pack).run(world);
  world.save();
});

function client() {
  const { repository } = world.repository;
  return newClient<RepositoryClient>((name: CallName, argument) => repository.call(name, argument, ANYONE));
}

function openReader(): BlobReader {
  return new BlobReader({ openChunks: () => world.repository.chunks, observe: () => undefined, codec }, "raw");
}

async function readRaw(path: string): Promise<Buffer> {
  const file = await client().locateFile(["main", path]);
  const blobs = await openReader().open(file.plan!, [file.sizeBytes]);
  if (!blobs.isStreamed(0)) return Buffer.from(await blobs.read(0));
  return Buffer.from(await new Response((await blobs.stream(0)) as never).arrayBuffer());
}

async function readAll(): Promise<[string, Buffer][]> {
  const request = { ref: "main", after: "", path: "", globs: [], purpose: "archive" } as const;
  const plan = await client().planFiles(request);
  const files: [string, Buffer][] = [];
  const next = () => Promise.reject(new Error("there is one window only"));
  for await (const file of readPlanned(plan, next, openReader())) {
    const pieces = file.blob < 0 ? [] : await Array.fromAsync(readPieces(file));
    files.push([file.path, Buffer.concat(pieces)]);
  }
  return files;
}

const WHOLE_LOG = {
  path: "log",
  since: null,
  until: null,
  author: null,
  text: null,
  ignoreCase: false,
  firstParent: false,
  follow: false,
};

const READS: Readonly<Record<string, () => Promise<unknown>>> = {
  "a log": async () => {
    // The cursor also holds time that was spent.
    const { commits } = await client().log({ ref: "main", place: null, limit: 10, ...WHOLE_LOG });
    return commits;
  },
  "a commit": () => client().readCommit({ oid: second.commit.oid, part: 1 }),
  "a tree": () => client().listTree({ oid: third.tree.oid, after: "", limit: 1_000 }),
  "a directory": () => client().listDirectory({ ref: "main", path: "dir", lastCommits: true }),
  "a list of files": () => client().listFiles({ ref: "main", path: "", after: "", limit: 100 }),
  blame: () => client().blame({ commit: third.commit.oid, path: "log", lines: null }),
  "a patch": () => client().patch({ base: first.commit.oid, head: second.commit.oid, start: 0 }),
  "a small file": () => readRaw("log"),
  "a file that comes in pieces": () => readRaw("noise-1"),
  "all files": readAll,
};

const isRead: Places = (place) => place !== "sql" && place !== "registry";

/** Runs a read while one call of R2 fails, each call in each way; then once more without a fault.
 * @param judge throws when what was read is wrong */
async function failEach(read: () => Promise<unknown>, judge: (answer: unknown) => void | Promise<void>): Promise<void> {
  world.restore();
  await judge(await read());
  const calls = world.places.filter(isRead);
  expect(calls.length).toBeGreaterThan(0);
  for (const [call, place] of calls.entries()) {
    for (const fault of faultsAt(place)) {
      world.restore();
      world.arm(call, fault, isRead);
      const answer = await read().then(
        (value) => ({ value }),
        () => null,
      );
      expect(world.isHit).toBe(true);
      // A broken transfer continues where it stopped; everything else is an error.
      if (answer !== null) await judge(answer.value);
      if (world.isDead) world.start();
      await judge(await read());
    }
  }
}

testSome(5, Object.entries(READS), "%s is right, or fails", async ([, read]) => {
  world.restore();
  const expected = await read();
  await failEach(read, (answer) => assert.deepEqual(answer, expected));
});

test("a clone is right, or fails, or git finds what is wrong with it", { tags: "sweep" }, async () => {
  const tip = third.commit.oid;
  await failEach(
    () => readClone(world, tip),
    async (pack) => {
      const isSent = world.isHit && !world.isDead;
      await takePack(pack as Buffer, tip).catch((error: unknown) => {
        // Bytes that R2 altered go to the client, which compares every object with its id.
        if (!isSent || !String(error).includes("the client finds")) throw error;
      });
    },
  );
});

const ALL: readonly string[] = Object.keys(READS);

test.each(ALL)("%s fails while R2 does, or has lost what it needs, and is right again after", async (name) => {
  const read = READS[name]!;
  world.restore();
  const expected = await read();
  world.restore();
  world.isStoreDown = true;
  await expect(read()).rejects.toThrow();
  world.isStoreDown = false;
  assert.deepEqual(await read(), expected);

  world.restore();
  const kept = world.store.copy();
  await world.store.delete(await world.repository.keys());
  await expect(read()).rejects.toThrow();
  for (const key of await Array.fromAsync(kept.list(""))) await world.store.put(key, await readObject(kept, key));
  assert.deepEqual(await read(), expected);
});

test.each(["a small file", "a log"])(
  "%s is right or fails whichever bit R2 alters",
  { tags: "sweep" },
  async (name) => {
    const read = READS[name]!;
    world.restore();
    const expected = await read();
    // The bytes read are at the beginning of each chunk, before its incompressible file.
    for (let bit = 0; bit < 8 * HEAD_BYTES; bit += 199) {
      world.restore();
      const { store } = world;
      const kept = store.copy();
      const keys = await world.repository.keys();
      for (const key of keys) {
        const bytes = await readObject(kept, key);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        await store.put(key, bytes);
      }
      const answer = await read().catch(() => expected);
      assert.deepEqual(answer, expected, `bit ${bit}`);
      for (const key of keys) await store.put(key, await readObject(kept, key));
      assert.deepEqual(await read(), expected);
    }
  },
);

/** Bytes of a chunk's entries before the incompressible one. */
const HEAD_BYTES = 600;

async function readObject(store: MemoryChunkStore, key: string): Promise<Uint8Array> {
  const { sizeBytes } = (await store.stat(key))!;
  return store.read(key, 0, sizeBytes);
}
