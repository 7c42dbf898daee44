/** The codec's operations inside workerd, by Holdfast and by other libraries. `codec.ts` sends a
 * corpus and has it processed repeatedly. The client takes the times: clocks in workerd stand
 * still while code runs. */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { sha1 } from "@noble/hashes/legacy.js";
import { indexPack as indexByIsomorphicGit } from "isomorphic-git";
import * as pako from "pako";
import { instantiateCodec, type ObjectContent } from "../../../src/base/codec/codec.ts";
import { maskRefused } from "../../../src/base/codec/fsck-messages.ts";
import wasm from "../../../src/base/codec/holdfast.wasm";
import { PackIndexer } from "../../../src/base/codec/pack-indexer.ts";
import { DEFAULT_LIMITS } from "../../../src/base/format/configured-limits.ts";
import { fromTypeNumber } from "../../../src/base/format/object.ts";

/** As in a push: the size of the body's pieces, and the memory for deltas. */
const PIECE_BYTES = 256 * 1024;
const RING_BYTES = 12 * 1024 * 1024;

/** Bytes that one call of `hashObjects` gets at least. */
const BATCH_BYTES = 1024 * 1024;

const LEVEL = 6;

/** A piece of the corpus: its bytes, and its object's type (as a number) or inflated size. */
interface Item {
  readonly bytes: Uint8Array;
  readonly known: number;
}

/** Does one operation on the corpus. The returned function gives the output; its time is not
 * taken. */
type Run = (items: readonly Item[]) => () => Uint8Array[];

const codec = instantiateCodec(wasm);

function each(work: (item: Item) => Uint8Array): Run {
  return (items) => {
    const made = items.map(work);
    return () => made;
  };
}

function headOf({ bytes, known }: Item): string {
  return `${fromTypeNumber(known)} ${bytes.length}\0`;
}

function hashBatches(items: readonly Item[]): () => Uint8Array[] {
  const made: Uint8Array[] = [];
  let batch: ObjectContent[] = [];
  let batchBytes = 0;
  const flush = (): void => {
    made.push(...codec.hashObjects(batch));
    batch = [];
    batchBytes = 0;
  };
  for (const { bytes, known } of items) {
    batch.push({ type: fromTypeNumber(known), content: bytes });
    batchBytes += bytes.length;
    if (batchBytes >= BATCH_BYTES) flush();
  }
  flush();
  return () => made;
}

const refuse = (): never => {
  throw new Error("the index does not fit into memory");
};

/** @returns the ids, once all checks have passed */
function indexPack(pack: Uint8Array): () => Uint8Array[] {
  const indexer = new PackIndexer(wasm, {
    limits: DEFAULT_LIMITS,
    ringBytes: RING_BYTES,
    refused: maskRefused("default"),
    pages: { put: refuse, get: refuse },
    readBack(offset, out) {
      const bytes = pack.subarray(offset, offset + out.length);
      out.set(bytes);
      return bytes.length;
    },
  });
  // The trailer is part of the operation: git index-pack checks it, and so does a push.
  const hash = createHash("sha1");
  for (let at = 0; at < pack.length && !indexer.done;) {
    const room = indexer.input();
    const piece = pack.subarray(at, at + Math.min(room.length, PIECE_BYTES));
    room.set(piece);
    at += piece.length;
    hash.update(indexer.step(piece.length));
  }
  const need = indexer.finish();
  if (need !== null) throw new Error(`the pack is incomplete: the indexer asks for ${need.kind}`);
  if (!hash.digest().equals(pack.subarray(-20))) throw new Error("the trailer is wrong");
  const index = indexer.index();
  const oids = index.oids(0, index.nodeCount);
  const nodes = Array.from({ length: index.count }, (_, entry) => index.nodeOf(entry));
  indexer.release();
  return () => sorted(nodes.map((node) => oids.subarray(node * 20, node * 20 + 20)));
}

/** isomorphic-git reads the pack from a file system and writes the index to it. This one holds only
 * these two files. */
async function indexIsomorphic(pack: Uint8Array): Promise<() => Uint8Array[]> {
  const refuse = async (): Promise<never> => Promise.reject(Object.assign(new Error("not there"), { code: "ENOENT" }));
  const promises = {
    readFile: async (path: string) =>
      path.endsWith(".pack") ? Buffer.from(pack.buffer, pack.byteOffset, pack.length) : refuse(),
    writeFile: async () => undefined,
    mkdir: async () => undefined,
    rmdir: refuse,
    unlink: refuse,
    stat: refuse,
    lstat: refuse,
    readdir: refuse,
    readlink: refuse,
    symlink: refuse,
  };
  const { oids } = await indexByIsomorphicGit({ fs: { promises }, dir: "/", gitdir: "/.git", filepath: "corpus.pack" });
  return () => sorted(oids.map((oid) => Buffer.from(oid, "hex")));
}

function sorted(oids: Uint8Array[]): Uint8Array[] {
  return oids.toSorted((a, b) => Buffer.compare(a, b));
}

const RUNS: Readonly<Record<string, (items: readonly Item[]) => ReturnType<Run> | Promise<ReturnType<Run>>>> = {
  "SHA-1 holdfast": hashBatches,
  "SHA-1 node:crypto": each((item) => createHash("sha1").update(headOf(item)).update(item.bytes).digest()),
  "SHA-1 @noble/hashes": each((item) =>
    sha1
      .create()
      .update(new TextEncoder().encode(headOf(item)))
      .update(item.bytes)
      .digest(),
  ),
  "inflate holdfast": each(({ bytes, known }) => codec.inflate(bytes, known).content),
  // One byte more than the output: zlib then finishes in one call.
  "inflate node:zlib": each(({ bytes, known }) => inflateSync(bytes, { chunkSize: Math.max(64, known + 1) })),
  "inflate pako": each(({ bytes }) => pako.inflate(bytes)),
  "deflate holdfast": each(({ bytes }) => codec.deflate(bytes, LEVEL)),
  "deflate node:zlib": each(({ bytes }) => deflateSync(bytes, { level: LEVEL })),
  "deflate pako": each(({ bytes }) => pako.deflate(bytes, { level: LEVEL })),
  "index holdfast": ([pack]) => indexPack(pack!.bytes),
  "index isomorphic-git": ([pack]) => indexIsomorphic(pack!.bytes),
};

/** SHA-1 of a run's whole output. zlib streams are inflated first: no two implementations deflate
 * alike. */
function digest(made: readonly Uint8Array[], work: string | null): string {
  const hash = createHash("sha1");
  for (const bytes of made) hash.update(work === "deflate" ? inflateSync(bytes) : bytes);
  return hash.digest("hex");
}

let items: Item[] = [];
let give: ReturnType<Run> = () => [];

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const work = searchParams.get("work");
    switch (pathname) {
      case "/corpus":
        items = ((await request.json()) as [string, number][]).map(([text, known]) => {
          return { bytes: Buffer.from(text, "base64"), known };
        });
        return new Response("held");
      case "/run":
        give = await RUNS[`${work} ${searchParams.get("by")}`]!(items);
        return new Response("done");
      case "/digest": {
        const made = give();
        give = () => [];
        return new Response(digest(made, work));
      }
      default:
        return new Response("idle");
    }
  },
} satisfies ExportedHandler;
