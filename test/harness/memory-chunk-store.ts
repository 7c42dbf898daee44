import { createHash } from "node:crypto";
import { GitError } from "../../src/base/format/errors.ts";
import {
  type ChunkStore,
  type FileLabel,
  type MultipartWrite,
  type ObjectStat,
  type SharedWrite,
  type SizedStream,
  wrongLength,
} from "../../src/base/chunks/chunk-store.ts";

/** A part of an object that is being written. */
interface Part {
  readonly bytes: Uint8Array;
  /** Differs from write to write. */
  readonly tag: string;
}

/** Chunks in memory, for tests: keeps its own copies, as a bucket does. */
export class MemoryChunkStore implements ChunkStore {
  readonly #objects = new Map<string, Uint8Array>();
  readonly #labels = new Map<string, FileLabel>();
  /** The parts of writes that are under way, by their ids. */
  readonly #writes = new Map<string, Part[]>();
  #begun = 0;

  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.#objects.set(key, bytes.slice());
  }

  async putStream(key: string, stream: ReadableStream<Uint8Array>, length: number): Promise<void> {
    const bytes = await readAll(stream);
    if (bytes.length !== length) throw wrongLength(key, length, bytes.length);
    this.#objects.set(key, bytes);
  }

  async createMultipart(key: string): Promise<MultipartWrite> {
    const id = `write-${++this.#begun}`;
    const parts: Part[] = [];
    this.#writes.set(id, parts);
    return {
      id,
      putPart: async (number, bytes) => {
        parts[number - 1] = { bytes: bytes.slice(), tag: "" };
      },
      complete: async () => {
        const missing = parts.findIndex((part) => part === undefined);
        if (missing >= 0) throw new GitError("storage-failed", { key, reason: `part ${missing + 1} was not written` });
        this.#join(key, id, parts);
      },
      abort: async () => {
        this.#writes.delete(id);
      },
    };
  }

  resumeMultipart(key: string, id: string): SharedWrite {
    return {
      putPart: async (number, stream, length) => {
        const bytes = await readAll(stream);
        if (bytes.length !== length) throw wrongLength(key, length, bytes.length);
        const parts = this.#writes.get(id);
        if (parts === undefined) throw new GitError("storage-failed", { key, reason: `there is no ${id}` });
        const tag = `tag-${++this.#begun}`;
        parts[number - 1] = { bytes, tag };
        return tag;
      },
      complete: async (tags) => {
        const parts = this.#writes.get(id);
        if (parts === undefined || !tags.every((tag, i) => parts[i]?.tag === tag))
          throw new GitError("conflict", { what: "object", reason: "there are other parts" });
        this.#join(key, id, parts.slice(0, tags.length));
      },
      abort: async () => {
        this.#writes.delete(id);
      },
    };
  }

  /** The ids of writes that are under way. */
  get writes(): string[] {
    return [...this.#writes.keys()];
  }

  #join(key: string, id: string, parts: readonly Part[]): void {
    const bytes = new Uint8Array(parts.reduce((size, part) => size + part.bytes.length, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part.bytes, at);
      at += part.bytes.length;
    }
    this.#objects.set(key, bytes);
    this.#writes.delete(id);
  }

  async read(key: string, offset: number, length: number): Promise<Uint8Array> {
    const bytes = this.#objects.get(key)?.slice(offset, offset + length) ?? new Uint8Array(0);
    if (bytes.length !== length) throw wrongLength(key, length, bytes.length);
    return bytes;
  }

  async stream(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    const bytes = await this.read(key, offset, length);
    return new ReadableStream({
      type: "bytes",
      start: (controller) => {
        controller.enqueue(bytes);
        controller.close();
      },
    });
  }

  open(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    return this.stream(key, offset, length);
  }

  async putFile(key: string, body: Uint8Array | SizedStream, label: FileLabel): Promise<string> {
    if (body instanceof Uint8Array) await this.put(key, body);
    else await this.putStream(key, body.stream, body.sizeBytes);
    this.#labels.set(key, label);
    return etagOf(this.#objects.get(key)!);
  }

  async openFile(
    key: string,
    etag: string,
    offset: number,
    length: number,
  ): Promise<ReadableStream<Uint8Array> | null> {
    const bytes = this.#objects.get(key);
    return bytes === undefined || etagOf(bytes) !== etag ? null : this.open(key, offset, length);
  }

  /** A store with the same contents.
   * @param rename maps each object's key to that in the copy */
  copy(rename = (key: string): string => key): MemoryChunkStore {
    const copy = new MemoryChunkStore();
    for (const [key, bytes] of this.#objects) copy.#objects.set(rename(key), bytes);
    for (const [key, label] of this.#labels) copy.#labels.set(rename(key), label);
    for (const [id, parts] of this.#writes) copy.#writes.set(id, [...parts]);
    copy.#begun = this.#begun;
    return copy;
  }

  /** The label that was written with a file. */
  labelOf(key: string): FileLabel | undefined {
    return this.#labels.get(key);
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#objects.delete(key);
  }

  async stat(key: string): Promise<ObjectStat | null> {
    const bytes = this.#objects.get(key);
    return bytes === undefined ? null : { sizeBytes: bytes.length, etag: etagOf(bytes) };
  }

  async *list(prefix: string, after = ""): AsyncGenerator<string> {
    yield* [...this.#objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  }
}

/** By an object's bytes, which nobody changes. */
const ETAGS = new WeakMap<Uint8Array, string>();

function etagOf(bytes: Uint8Array): string {
  let etag = ETAGS.get(bytes);
  if (etag === undefined) ETAGS.set(bytes, (etag = createHash("md5").update(bytes).digest("hex")));
  return etag;
}

/** Copies each piece as it comes: its buffer is used again. */
async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece.slice());
  return new Uint8Array(Buffer.concat(pieces));
}
