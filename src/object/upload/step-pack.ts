import { isBundle, readBundleHeader } from "../../base/format/bundle.ts";
import { MAX_COMMAND_BYTES } from "../../base/format/limits.ts";
import { readPieces } from "../../base/format/read-pieces.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { StoredPart } from "../store/jobs/upload-table.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import type { PackSource } from "../state/push.ts";
import type { PackBody } from "./pack-body.ts";

/** Bytes that are read at a time. */
const READ_BYTES = 256 * 1024;

/** As many bytes as tell a bundle from a pack, whose parts may be smaller. */
const SIGNATURE_BYTES = 16;

/** The parts of a step's pack that are stored. */
export interface StepParts extends Pick<PackSource, "mayGoOn" | "demandPace"> {
  /** Those that are known, in the pack's order: all, once the pack has been read. */
  readonly known: readonly StoredPart[];
  /** Bytes that are stored of the pack, at most. */
  readonly storedBytes: number;
  /** The part to be read next; null: there are no more. */
  next(): Promise<StoredPart | null>;
}

/** Parts that are all stored. */
export function listed(parts: readonly StoredPart[]): StepParts {
  const rest = parts.values();
  return {
    known: parts,
    storedBytes: parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    next: async () => rest.next().value ?? null,
  };
}

/** A step's pack: what of it is in the request's body, then its parts, one after the other. A
 * bundle's header before it is left out: that the history which it names is here, a step's own
 * check finds out. */
export class StepPack implements PackSource {
  readonly #store: ChunkStore;
  readonly #body: PackBody | null;
  readonly #parts: StepParts;
  readonly #note: (readBytes: number) => void;
  #hasBegun = false;
  #readBytes = 0;
  #reader: ReadableStreamBYOBReader | null = null;
  /** Bytes of the present part that have not been read. */
  #leftBytes = 0;

  /** @param body null: all of it is stored
   * @param note called with the bytes that were read so far */
  constructor(store: ChunkStore, body: PackBody | null, parts: StepParts, note: (readBytes: number) => void) {
    this.#store = store;
    this.#body = body;
    this.#parts = parts;
    this.#note = note;
  }

  get mayGoOn(): boolean {
    return this.#parts.mayGoOn === true && this.#body?.hasEnded !== false;
  }

  /** Bytes of it that were read. */
  get readBytes(): number {
    return this.#readBytes;
  }

  /** Of a pack that may go on, no more is read at once than to the end of the body, or of a part:
   * it may end there.
   * @throws GitError "storage-failed" when a part is missing or short, "invalid" or "too-large" for
   * a bundle's header, and as the body and the parts */
  read(minimumBytes: number): Promise<Uint8Array | null> {
    let hasRead = false;
    return readPieces(async () => {
      if (hasRead && this.mayGoOn && this.#leftBytes === 0) return null;
      hasRead = true;
      return this.#readPiece();
    }, minimumBytes);
  }

  demandPace(minBytes: () => number): void {
    this.#body?.demandPace(minBytes);
    this.#parts.demandPace?.(minBytes);
  }

  /** Gives up the rest. */
  async cancel(): Promise<void> {
    await this.#body?.cancel();
    await this.#reader?.cancel().catch(() => undefined);
  }

  async #readPiece(): Promise<Uint8Array | null> {
    if (this.#hasBegun) return this.#readNext();
    this.#hasBegun = true;
    const first = await readPieces(() => this.#readNext(), SIGNATURE_BYTES);
    if (first === null || !isBundle(first)) return first;
    const read = [first];
    const { rest } = await readBundleHeader(async () => read.pop() ?? this.#readNext(), MAX_COMMAND_BYTES);
    return rest.length > 0 ? rest : this.#readNext();
  }

  async #readNext(): Promise<Uint8Array | null> {
    const piece = (await this.#body?.read()) ?? (await this.#readStored());
    if (piece !== null) this.#note((this.#readBytes += piece.length));
    return piece;
  }

  async #readStored(): Promise<Uint8Array | null> {
    for (;;) {
      if (this.#reader === null) {
        const part = await this.#parts.next();
        if (part === null) return null;
        this.#leftBytes = part.sizeBytes;
        this.#reader = (await this.#store.stream(part.key, 0, part.sizeBytes)).getReader({ mode: "byob" });
      }
      const { value } = await this.#reader.readAtLeast(READ_BYTES, new Uint8Array(READ_BYTES));
      if (value !== undefined && value.length > 0) {
        // What the bucket sends is there at once, unlike a client's body: others would wait for all
        // of it.
        await pause();
        this.#leftBytes -= value.length;
        return value;
      }
      this.#reader = null;
    }
  }
}
