import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Bucket } from "../../../src/base/chunks/bucket.ts";
import { newChunkCounters } from "../../../src/base/chunks/chunk-store.ts";
import { MULTIPART_PART_BYTES } from "../../../src/base/format/limits.ts";
import { putInParts, R2ChunkStore } from "../../../src/base/chunks/r2-chunk-store.ts";
import { R2MultipartWrite } from "../../../src/base/chunks/r2-multipart.ts";
import { collect, describeChunkStore, readAll } from "../../object/store/chunk-store-contract.ts";

describeChunkStore("R2", () => ({
  store: new R2ChunkStore(env.BUCKET, newChunkCounters()),
  prefix: `test-${crypto.randomUUID()}/`,
}));

test("operations and bytes are counted", async () => {
  const counters = newChunkCounters();
  const store = new R2ChunkStore(env.BUCKET, counters);
  const prefix = `test-${crypto.randomUUID()}/`;
  await store.put(`${prefix}a`, new Uint8Array(100));
  await store.read(`${prefix}a`, 10, 20);
  await readAll(await store.stream(`${prefix}a`, 0, 50));
  await readAll(await store.open(`${prefix}a`, 60, 40));
  await expect(store.read(`${prefix}b`, 0, 1)).rejects.toThrow("read 0 of 1 bytes");
  const write = await store.createMultipart(`${prefix}c`);
  await write.putPart(1, new Uint8Array(7));
  await write.complete();
  await collect(store.list(prefix));
  await store.delete([`${prefix}a`, `${prefix}c`]);
  expect(counters).toEqual({ puts: 3, parts: 1, gets: 4, deletes: 1, lists: 1, bytesIn: 107, bytesOut: 110 });
});

test("the bucket itself checks what arrives", async () => {
  const corrupting: Bucket = {
    ...boundBucket(),
    put: (key, bytes, options) =>
      env.BUCKET.put(
        key,
        (bytes as Uint8Array).map((byte) => byte ^ 1),
        options,
      ),
  };
  const store = new R2ChunkStore(corrupting, newChunkCounters());
  const key = crypto.randomUUID();
  await expect(store.put(key, new Uint8Array([1, 2, 3]))).rejects.toMatchObject({
    code: "storage-failed",
    data: { key },
  });
  expect(await env.BUCKET.head(key)).toBeNull();
});

test("a put is held against the checksum that its caller knows", async () => {
  const store = new R2ChunkStore(boundBucket(), newChunkCounters());
  const key = crypto.randomUUID();
  const bytes = new Uint8Array([1, 2, 3]);
  const sha1 = new Uint8Array(await crypto.subtle.digest("SHA-1", bytes));
  await store.put(key, bytes, sha1);
  await expect(store.put(key, new Uint8Array([1, 2, 4]), sha1)).rejects.toMatchObject({ code: "storage-failed" });
  expect(await store.read(key, 0, 3)).toEqual(bytes);
});

test("a bucket that ends or fails in the middle is an error of the stream", async () => {
  const pieces = (...items: (Uint8Array | Error)[]) =>
    new ReadableStream({
      type: "bytes",
      pull(controller: ReadableByteStreamController) {
        const item = items.shift();
        if (item === undefined) {
          controller.close();
          controller.byobRequest?.respond(0);
        } else if (item instanceof Error) controller.error(item);
        else controller.enqueue(item);
      },
    });
  const store = (body: () => ReadableStream<Uint8Array>) =>
    new R2ChunkStore(
      {
        ...boundBucket(),
        get: async () => ({
          etag: "tag",
          size: 20,
          body: body(),
          arrayBuffer: () => new Response(body()).arrayBuffer(),
        }),
      },
      newChunkCounters(),
    );
  const short = store(() => pieces(new Uint8Array(10), new Uint8Array(9)));
  await expect(short.read("k", 0, 20)).rejects.toMatchObject({
    code: "storage-failed",
    data: { expected: 20, actual: 19 },
  });
  await expect(short.stream("k", 0, 20).then(readAll)).rejects.toMatchObject({
    code: "storage-failed",
    data: { actual: 19 },
  });
  const long = store(() => pieces(new Uint8Array(10), new Uint8Array(11)));
  await expect(long.read("k", 0, 20)).rejects.toMatchObject({ code: "storage-failed", data: { actual: 21 } });
  await expect(long.stream("k", 0, 20).then(readAll)).rejects.toMatchObject({ code: "storage-failed" });
  const failing = store(() => pieces(new Uint8Array(10), new Error("gone")));
  await expect(failing.read("k", 0, 20)).rejects.toMatchObject({ code: "storage-failed" });
  await expect(failing.stream("k", 0, 20).then(readAll)).rejects.toMatchObject({ code: "storage-failed" });
});

test("a file says of itself what it is told, and its operations are counted", async () => {
  const counters = newChunkCounters();
  const store = new R2ChunkStore(env.BUCKET, counters);
  const key = crypto.randomUUID();
  const metadata = { oid: "0".repeat(40), mode: "100755" };
  for (const body of [
    new Uint8Array(9),
    { stream: new Response(new Uint8Array(9)).body as ReadableStream<Uint8Array>, sizeBytes: 9 },
  ]) {
    const etag = await store.putFile(key, body, { contentType: "text/plain", metadata });
    expect(await env.BUCKET.head(key)).toMatchObject({
      etag,
      size: 9,
      httpMetadata: { contentType: "text/plain" },
      customMetadata: metadata,
    });
  }
  const etag = (await env.BUCKET.head(key))!.etag;
  await readAll((await store.openFile(key, etag, 2, 5))!);
  expect(await store.openFile(key, "another", 2, 5)).toBeNull();
  expect(counters).toMatchObject({ puts: 2, gets: 2, bytesIn: 18, bytesOut: 5 });
});

test.each([MULTIPART_PART_BYTES + 1, 2 * MULTIPART_PART_BYTES])(
  "a file of %i bytes is written in parts as it comes; one that fails, or is short or long, leaves nothing",
  async (sizeBytes) => {
    const key = crypto.randomUUID();
    const bytes = new Uint8Array(sizeBytes).map((_, i) => i * 7 + (i >> 9));
    const put = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
      const upload = await env.BUCKET.createMultipartUpload(key, { customMetadata: { mode: "100644" } });
      return putInParts(key, { stream, sizeBytes }, new R2MultipartWrite(key, upload, newChunkCounters()));
    };
    const cut = (length: number): ReadableStream<Uint8Array> => {
      let at = 0;
      return new ReadableStream({
        pull(controller) {
          const end = Math.min(length, at + 100_003);
          controller.enqueue(end <= sizeBytes ? bytes.slice(at, end) : new Uint8Array(end - at));
          at = end;
          if (at === length) controller.close();
        },
      });
    };
    await expect(put(cut(sizeBytes - 1))).rejects.toMatchObject({ code: "storage-failed", data: { key } });
    await expect(put(cut(sizeBytes + 1))).rejects.toMatchObject({ code: "storage-failed", data: { key } });
    const failing = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("no more")) });
    await expect(put(failing)).rejects.toThrow("no more");
    expect(await env.BUCKET.head(key)).toBeNull();
    const etag = await put(cut(sizeBytes));
    expect(await env.BUCKET.head(key)).toMatchObject({ etag, size: sizeBytes, customMetadata: { mode: "100644" } });
    const stored = new Uint8Array(await (await env.BUCKET.get(key))!.arrayBuffer());
    expect(Buffer.compare(stored, bytes)).toBe(0);
  },
);

function boundBucket(): Bucket {
  return {
    put: (key, bytes, options) => env.BUCKET.put(key, bytes, options),
    get: (key: string, options: R2GetOptions) => env.BUCKET.get(key, options) as Promise<R2ObjectBody>,
    delete: (keys) => env.BUCKET.delete(keys),
    head: (key) => env.BUCKET.head(key),
    list: (options) => env.BUCKET.list(options),
    createMultipartUpload: (key, options) => env.BUCKET.createMultipartUpload(key, options),
    resumeMultipartUpload: (key, id) => env.BUCKET.resumeMultipartUpload(key, id),
  };
}
