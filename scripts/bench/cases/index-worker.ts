/** The pack indexer alone, inside workerd: `index.ts` sends it a pack and has it indexed over and over.
 * Durations are taken by the client: the clocks in here stand still while code runs. */
import { createHash } from "node:crypto";
import { maskRefused } from "../../../src/codec/fsck-messages.ts";
import wasm from "../../../src/codec/holdfast.wasm";
import { PackIndexer } from "../../../src/codec/pack-indexer.ts";
import { DEFAULT_LIMITS } from "../../../src/format/limits.ts";

/** As a push is indexed: the body's pieces, and the memory for deltas. */
const PIECE_BYTES = 256 * 1024;
const RING_BYTES = 12 * 1024 * 1024;

let pack = new Uint8Array();

/** @returns objects, when all have their id and passed their checks */
function indexPack(): number {
  const indexer = new PackIndexer(wasm, {
    limits: DEFAULT_LIMITS,
    ringBytes: RING_BYTES,
    refused: maskRefused("default"),
    readBack(offset, out) {
      const bytes = pack.subarray(offset, offset + out.length);
      out.set(bytes);
      return bytes.length;
    },
  });
  // The trailer belongs to the work: git index-pack checks it, and so does a push.
  const hash = createHash("sha1");
  for (let at = 0; at < pack.length && !indexer.done;) {
    const room = indexer.room();
    const piece = pack.subarray(at, at + Math.min(room.length, PIECE_BYTES));
    room.set(piece);
    at += piece.length;
    hash.update(indexer.step(piece.length));
  }
  const need = indexer.finish();
  if (need !== null) throw new Error(`the pack is not whole: the indexer asks for ${need.kind}`);
  if (!hash.digest().equals(pack.subarray(-20))) throw new Error("the trailer is wrong");
  return indexer.index().count;
}

export default {
  async fetch(request: Request): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case "/pack":
        pack = new Uint8Array(await request.arrayBuffer());
        return new Response(String(pack.length));
      case "/index":
        return new Response(String(indexPack()));
      default:
        return new Response("idle");
    }
  },
} satisfies ExportedHandler;
