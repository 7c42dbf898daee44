import { describe, expect, test } from "vitest";
import { isGitError } from "../../../src/base/format/errors.ts";
import { MULTIPART_PART_BYTES } from "../../../src/base/format/limits.ts";
import type { ChunkStore } from "../../../src/base/chunks/chunk-store.ts";
import { Random } from "../../harness/random.ts";

/** The contract of every chunk store. @param open gives a store that is empty below `prefix` */
export function describeChunkStore(name: string, open: () => { store: ChunkStore; prefix: string }): void {
  describe(`${name} as a chunk store`, () => {
    test.each([0, 1, 100, 2_000_000])("an object of %i bytes is read as it was written", async (size) => {
      const { store, prefix } = open();
      const bytes = new Random(size).bytes(size);
      await store.put(`${prefix}a`, bytes);
      expect([...(await collect(store.list(prefix)))]).toEqual([`${prefix}a`]);
      if (size === 0) return;
      expectBytes(await store.read(`${prefix}a`, 0, size), bytes);
      expectBytes(await readAll(await store.stream(`${prefix}a`, 0, size)), bytes);
      expectBytes(await readAll(await store.open(`${prefix}a`, 0, size)), bytes);
    });

    test("ranges are read exactly", async () => {
      const { store, prefix } = open();
      const bytes = new Random(1).bytes(600_000);
      await store.put(`${prefix}a`, bytes);
      for (const [offset, length] of [
        [0, 1],
        [599_999, 1],
        [1, 599_999],
        [1000, 300_000],
      ] as const) {
        const expected = bytes.slice(offset, offset + length);
        expectBytes(await store.read(`${prefix}a`, offset, length), expected);
        expectBytes(await readAll(await store.stream(`${prefix}a`, offset, length)), expected);
        expectBytes(await readAll(await store.open(`${prefix}a`, offset, length)), expected);
      }
    });

    test("the caller's buffer is the caller's again", async () => {
      const { store, prefix } = open();
      const buffer = new Uint8Array([9, 1, 2, 3, 9]);
      await store.put(`${prefix}a`, buffer.subarray(1, 4));
      buffer.fill(0);
      expect(await store.read(`${prefix}a`, 0, 3)).toEqual(new Uint8Array([1, 2, 3]));
    });

    test("absent and short are errors with values, never fewer bytes", async () => {
      const { store, prefix } = open();
      await store.put(`${prefix}a`, new Uint8Array(10));
      for (const [key, offset, length] of [
        ["none", 0, 1],
        ["a", 5, 6],
        ["a", 0, 11],
      ] as const) {
        const reading = store.read(prefix + key, offset, length);
        await expect(reading).rejects.toSatisfy(
          (error) => isGitError(error, "storage-failed") && error.data["key"] === prefix + key,
        );
        const streaming = store.stream(prefix + key, offset, length).then(readAll);
        await expect(streaming).rejects.toSatisfy((error) => isGitError(error, "storage-failed"));
        // At once, not when it is read: by then the caller has sent a status line.
        await expect(store.open(prefix + key, offset, length)).rejects.toSatisfy(
          (error) => isGitError(error, "storage-failed") && error.data["key"] === prefix + key,
        );
      }
    });

    test("a stream that is not wanted any more can be cancelled", async () => {
      const { store, prefix } = open();
      await store.put(`${prefix}a`, new Uint8Array(2_000_000));
      for (const read of ["stream", "open"] as const) {
        const stream = await store[read](`${prefix}a`, 0, 2_000_000);
        const reader = stream.getReader();
        expect((await reader.read()).done).toBe(false);
        await reader.cancel();
      }
    });

    test("a stream is written as it comes; one that fails, or is short or long, leaves nothing", async () => {
      const { store, prefix } = open();
      const bytes = new Random(3).bytes(300_000);
      const pieces = (...ends: number[]): ReadableStream<Uint8Array> =>
        new ReadableStream({
          start: (controller) => {
            ends.forEach((end, i) => controller.enqueue(bytes.slice(ends[i - 1] ?? 0, end)));
            controller.close();
          },
        });
      await store.putStream(`${prefix}a`, pieces(1, 70_000, 300_000), 300_000);
      expectBytes(await store.read(`${prefix}a`, 0, 300_000), bytes);
      const failing = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new Error("no more")),
      });
      await expect(store.putStream(`${prefix}b`, failing, 300_000)).rejects.toThrow();
      await expect(store.putStream(`${prefix}b`, pieces(299_999), 300_000)).rejects.toThrow();
      await expect(store.putStream(`${prefix}b`, pieces(300_000), 299_999)).rejects.toThrow();
      expect(await collect(store.list(prefix))).toEqual([`${prefix}a`]);
    });

    test("a multipart write appears whole, when it is complete", async () => {
      const { store, prefix } = open();
      const first = new Uint8Array(MULTIPART_PART_BYTES).fill(1);
      const last = new Uint8Array([2, 3]);
      const write = await store.createMultipart(`${prefix}a`);
      await Promise.all([write.putPart(2, last), write.putPart(1, first)]);
      expect(await collect(store.list(prefix))).toEqual([]);
      await write.complete();
      expect(await store.read(`${prefix}a`, MULTIPART_PART_BYTES - 1, 3)).toEqual(new Uint8Array([1, 2, 3]));
    });

    test("a multipart write with a hole does not complete; an aborted one leaves nothing", async () => {
      const { store, prefix } = open();
      const write = await store.createMultipart(`${prefix}a`);
      await write.putPart(2, new Uint8Array(1));
      await expect(write.complete()).rejects.toSatisfy((error) => isGitError(error, "storage-failed"));
      await write.abort();
      expect(await collect(store.list(prefix))).toEqual([]);
    });

    test("a multipart write goes on by its id, in any order and again, and is complete with the last tags", async () => {
      const { store, prefix } = open();
      const key = `${prefix}a`;
      const { id } = await store.createMultipart(key);
      const partBytes = 5 * 1024 * 1024;
      const put = (number: number, length: number, fill: number): Promise<string> => {
        const bytes = new Uint8Array(length).fill(fill);
        return store.resumeMultipart(key, id).putPart(number, new Blob([bytes]).stream(), length);
      };
      const last = await put(3, 2, 3);
      const former = await put(1, partBytes, 9);
      const [first, second] = await Promise.all([put(1, partBytes, 1), put(2, partBytes, 2)]);
      const failing = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("no more")) });
      await expect(store.resumeMultipart(key, id).putPart(2, failing, partBytes)).rejects.toThrow();
      const short = new Blob([new Uint8Array(7)]).stream();
      await expect(store.resumeMultipart(key, id).putPart(2, short, partBytes)).rejects.toThrow();
      const others = store.resumeMultipart(key, id).complete([former, second, last]);
      await expect(others).rejects.toSatisfy((error) => isGitError(error, "conflict"));
      expect(await collect(store.list(prefix))).toEqual([]);
      await store.resumeMultipart(key, id).complete([first, second, last]);
      expect(await store.read(key, partBytes - 1, 2)).toEqual(new Uint8Array([1, 2]));
      expect(await store.read(key, 2 * partBytes - 1, 3)).toEqual(new Uint8Array([2, 3, 3]));
      const again = store.resumeMultipart(key, id).complete([first, second, last]);
      await expect(again).rejects.toSatisfy((error) => isGitError(error, "conflict"));
      // It is over: nothing happens.
      await store.resumeMultipart(key, id).abort();
      expect(await collect(store.list(prefix))).toEqual([key]);
    });

    test("a multipart write that is aborted by its id leaves nothing, and takes nothing any more", async () => {
      const { store, prefix } = open();
      const { id } = await store.createMultipart(`${prefix}a`);
      const put = (): Promise<string> =>
        store.resumeMultipart(`${prefix}a`, id).putPart(1, new Blob([new Uint8Array(9)]).stream(), 9);
      const tag = await put();
      for (let times = 0; times < 2; times++) await store.resumeMultipart(`${prefix}a`, id).abort();
      await expect(put()).rejects.toThrow();
      const late = store.resumeMultipart(`${prefix}a`, id).complete([tag]);
      await expect(late).rejects.toSatisfy((error) => isGitError(error, "conflict"));
      expect(await collect(store.list(prefix))).toEqual([]);
    });

    test("a file is written again and again, and each version known by its tag", async () => {
      const { store, prefix } = open();
      const key = `${prefix}a`;
      const label = { contentType: "text/plain", metadata: { mode: "100644" } };
      const bytes = new Random(4).bytes(300_000);
      const first = await store.putFile(key, bytes, label);
      expectBytes(await readAll((await store.openFile(key, first, 0, 300_000))!), bytes);
      expect(await readAll((await store.openFile(key, first, 1_000, 7))!)).toEqual(bytes.slice(1_000, 1_007));
      const stream = new Response(bytes.slice(1)).body as ReadableStream<Uint8Array>;
      const second = await store.putFile(key, { stream, sizeBytes: 299_999 }, label);
      expect(second).not.toBe(first);
      expect(await store.openFile(key, first, 0, 1)).toBeNull();
      expect(await readAll((await store.openFile(key, second, 0, 299_999))!)).toEqual(bytes.slice(1));
      expect(await store.putFile(key, bytes, label)).toBe(first);
      expect((await store.putFile(`${prefix}empty`, new Uint8Array(0), label)).length).toBeGreaterThan(0);
      await store.delete([key]);
      expect(await store.openFile(key, first, 0, 1)).toBeNull();
    });

    test("an object tells its size and version without being read", async () => {
      const { store, prefix } = open();
      const etag = await store.putFile(`${prefix}a`, new Uint8Array(7), { contentType: "text/plain", metadata: {} });
      expect(await store.stat(`${prefix}a`)).toEqual({ sizeBytes: 7, etag });
      expect(await store.stat(`${prefix}b`)).toBeNull();
    });

    test("a file whose stream fails, or is short or long, stays as it was", async () => {
      const { store, prefix } = open();
      const label = { contentType: "text/plain", metadata: {} };
      const etag = await store.putFile(`${prefix}a`, new Uint8Array([1, 2, 3]), label);
      const bytes = new Uint8Array(100_000);
      const failing = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("no more")) });
      const whole = (): ReadableStream<Uint8Array> => new Response(bytes).body as ReadableStream<Uint8Array>;
      for (const body of [
        { stream: failing, sizeBytes: 100_000 },
        { stream: whole(), sizeBytes: 99_999 },
        { stream: whole(), sizeBytes: 100_001 },
      ]) {
        await expect(store.putFile(`${prefix}a`, body, label)).rejects.toThrow();
      }
      expect(await readAll((await store.openFile(`${prefix}a`, etag, 0, 3))!)).toEqual(new Uint8Array([1, 2, 3]));
    });

    test("keys are listed by prefix, ascending, beyond one page, and deleted", { tags: "sweep" }, async () => {
      const { store, prefix } = open();
      const keys = Array.from({ length: 1_001 }, (_, i) => `${prefix}b/${String(i).padStart(5, "0")}`);
      const shuffled = [...new Random(2).shuffled(keys), `${prefix}a`, `${prefix}c`];
      await Promise.all(shuffled.map((key) => store.put(key, new Uint8Array(1))));
      expect(await collect(store.list(`${prefix}b/`))).toEqual(keys);
      expect(await collect(store.list(`${prefix}b/`, keys[997]))).toEqual(keys.slice(998));
      await store.delete([...keys, `${prefix}never-there`]);
      expect(await collect(store.list(prefix))).toEqual([`${prefix}a`, `${prefix}c`]);
      await store.delete([]);
    });
  });
}

/** Everything that an iterable yields. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Compares bytes at once: `toEqual` looks at each by itself. */
function expectBytes(found: Uint8Array, expected: Uint8Array): void {
  expect([found.length, Buffer.compare(found, expected)]).toEqual([expected.length, 0]);
}

/** Everything that a stream yields. */
export async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as never).arrayBuffer());
}
