import { expect, test } from "vitest";
import type { LfsUploadStatus } from "../../../src/contract/lfs.ts";
import { type ClientObject, objectOf } from "../../harness/lfs.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { ANYONE } from "../../harness/requester.ts";
import { housekeep } from "../maintenance/housekeep.ts";
import { PushedRepository } from "../pushing.ts";
import type { CallName } from "../../../src/contract/calls.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const PART_BYTES = 10;
const GIB = 1024 ** 3;

/** A repository, and its bucket. */
async function make() {
  const chunks = new MemoryChunkStore();
  const repository = new PushedRepository({ chunks });
  await repository.repository.create("main");
  const ask = async (name: CallName, argument: unknown): Promise<unknown> => {
    const outcome = await repository.repository.call(name, argument, ANYONE);
    if (outcome.kind === "done") return outcome.value;
    throw new Error(outcome.kind === "failed" ? outcome.code : outcome.kind);
  };
  return { chunks, repository, ask };
}

type Made = Awaited<ReturnType<typeof make>>;

async function begin({ ask }: Made, { oid, size }: Pick<ClientObject, "oid" | "size">, largestPartBytes = PART_BYTES) {
  const status = (await ask("beginLfsUpload", { oid, sizeBytes: size, largestPartBytes })) as LfsUploadStatus;
  return { status, name: { id: status.id, oid } };
}

/** Stores a part. @returns where it went */
async function put({ ask, chunks }: Made, name: { id: string; oid: string }, part: number, bytes: Buffer) {
  const wanted = { ...name, part, sizeBytes: bytes.length, checksum: objectOf(bytes).oid };
  const place = (await ask("beginLfsPart", wanted)) as { key: string; write: string } | null;
  if (place === null) return null;
  const write = chunks.resumeMultipart(place.key, place.write);
  const tag = await write.putPart(part, new Blob([new Uint8Array(bytes)]).stream(), bytes.length);
  await ask("addLfsPart", { ...wanted, tag });
  return place;
}

async function putAll(made: Made, name: { id: string; oid: string }, { bytes }: ClientObject) {
  let place: { key: string; write: string } | null = null;
  for (let from = 0, part = 1; from < bytes.length; from += PART_BYTES, part++)
    place = await put(made, name, part, bytes.subarray(from, from + PART_BYTES));
  return place!;
}

test("parts are as large as they must be for the bucket to take them all, and no larger than a request", async () => {
  const made = await make();
  const sizes = [1, GIB, 300 * GIB, 313 * GIB, 800 * GIB];
  const begun = await Promise.all(
    sizes.map((size, i) => begin(made, { oid: String(i).repeat(64), size }, 85 * 1024 ** 2)),
  );
  const partsOf = begun.map(({ status }, i) => Math.ceil(sizes[i]! / status.partBytes));
  expect(begun.map(({ status }) => status.partBytes / 1024 ** 2)).toEqual([32, 32, 32, 33, 82]);
  expect(Math.max(...partsOf)).toBeLessThanOrEqual(10_000);
});

test("an upload ends a day after it was last continued, and leaves nothing", async () => {
  const made = await make();
  const { repository, chunks } = made;
  const [left, kept] = [objectOf("left half way in parts"), objectOf("kept half way in parts")];
  const cut = await begin(made, left);
  await put(made, cut.name, 1, left.bytes.subarray(0, PART_BYTES));
  const going = await begin(made, kept);
  const { lfsUploads } = repository.tables;
  lfsUploads.renew(going.name.id, Date.now() + 2 * DAY_MS);
  await housekeep(repository, Date.now() + DAY_MS - HOUR_MS);
  expect(lfsUploads.count()).toBe(2);
  await housekeep(repository, Date.now() + DAY_MS + HOUR_MS);
  expect([lfsUploads.find(cut.name.id), lfsUploads.count(), chunks.writes.length]).toEqual([null, 1, 1]);
  const place = await putAll(made, going.name, kept);
  expect(await made.ask("completeLfsUpload", going.name)).toMatchObject({ isDone: true });
  await housekeep(repository, Date.now() + 3 * DAY_MS);
  expect(await Array.fromAsync(chunks.list(""))).toEqual([place.key]);
  expect(chunks.writes).toEqual([]);
});

test("one that has ended, but whose job has not run yet, cannot be continued", async () => {
  const made = await make();
  const object = objectOf("too late for these parts");
  const { name } = await begin(made, object);
  made.repository.tables.lfsUploads.renew(name.id, Date.now() - 1);
  for (const call of ["readLfsUpload", "endLfsUpload", "completeLfsUpload"] as const)
    await expect(made.ask(call, name)).rejects.toThrow("not-found");
  await expect(put(made, name, 1, object.bytes.subarray(0, PART_BYTES))).rejects.toThrow("not-found");
});

test("where the bucket has another write of a part than the last that was entered, the upload ends", async () => {
  const made = await make();
  const { repository, chunks } = made;
  const object = objectOf("two requests wrote a part");
  const { name } = await begin(made, object);
  const { key, write } = await putAll(made, name, object);
  // Its answer was lost, or it came late.
  await chunks.resumeMultipart(key, write).putPart(2, new Blob(["0123456789"]).stream(), PART_BYTES);
  await expect(made.ask("completeLfsUpload", name)).rejects.toThrow("conflict");
  await expect(made.ask("readLfsUpload", name)).rejects.toThrow("not-found");
  await housekeep(repository, Date.now() + 2 * HOUR_MS);
  expect([await Array.fromAsync(chunks.list("")), chunks.writes]).toEqual([[], []]);

  const again = await begin(made, object);
  await putAll(made, again.name, object);
  expect(await made.ask("completeLfsUpload", again.name)).toMatchObject({ isDone: true });
});

test("parts that are joined already stay, and the next process reads the object from its beginning", async () => {
  const made = await make();
  const { repository, chunks } = made;
  const object = objectOf("joined, but not yet read");
  const { name } = await begin(made, object);
  const { key, write } = await putAll(made, name, object);
  const tags = repository.tables.lfsUploads.parts(name.id).map(({ tag }) => tag);
  // As a process does that dies before it notes it.
  await chunks.resumeMultipart(key, write).complete(tags);
  repository.tables.lfsUploads.join(name.id);
  await expect(put(made, name, 1, Buffer.from("0123456789"))).rejects.toThrow("conflict");
  expect(await put(made, name, 1, object.bytes.subarray(0, PART_BYTES))).toBeNull();
  expect(await made.ask("completeLfsUpload", name)).toEqual({ isDone: true, checkedBytes: object.size });
  expect(repository.tables.lfs.find(object.oid)).toMatchObject({ key, sizeBytes: object.size });
});

test("of two uploads of an object the first one stays, and the other leaves nothing", async () => {
  const made = await make();
  const { repository, chunks } = made;
  const object = objectOf("sent from two machines");
  const [one, two] = [await begin(made, object), await begin(made, object)];
  const { key } = await putAll(made, one.name, object);
  await putAll(made, two.name, object);
  const calls = [one, two].map(({ name }) => made.ask("completeLfsUpload", name));
  expect(await Promise.all(calls)).toEqual([
    expect.objectContaining({ isDone: true }),
    expect.objectContaining({ isDone: true }),
  ]);
  await housekeep(repository, Date.now() + 2 * HOUR_MS);
  expect(await Array.fromAsync(chunks.list(""))).toEqual([key]);
  expect([repository.tables.lfsUploads.count(), chunks.writes]).toEqual([0, []]);
});
