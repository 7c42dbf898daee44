import { GitError } from "../../format/errors.ts";
import { type ChunkStore, wrongLength } from "./chunk-store.ts";

/** Bytes of one object of a store, on their way from the moment this is made and taken when they are wanted; until then none is
 * held here. What breaks off on the way is opened again where it stopped: a slow client keeps a transfer waiting for longer than
 * a back end may like. */
export class OpenRange {
  readonly #store: ChunkStore;
  readonly #key: string;
  readonly #end: number;
  #position: number;
  #openedAt: number;
  #reader: Promise<ReadableStreamBYOBReader>;

  constructor(store: ChunkStore, key: string, offset: number, length: number) {
    this.#store = store;
    this.#key = key;
    this.#end = offset + length;
    this.#position = this.#openedAt = offset;
    this.#reader = this.#open();
  }

  /** Takes the next bytes: as many as there is room for, or all that are left.
   * @param target where they go; its buffer is given away, that of the result takes its place
   * @throws GitError "storage-failed" when the bytes are not there, or a transfer breaks off that had given none */
  async read(target: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    const { byteOffset } = target;
    const { byteLength } = target.buffer;
    const wanted = Math.min(target.length, this.#end - this.#position);
    for (let { buffer } = target; ; buffer = new ArrayBuffer(byteLength)) {
      try {
        const bytes = await this.#fill(new Uint8Array(buffer, byteOffset, wanted));
        this.#position += wanted;
        return bytes;
      } catch (cause) {
        if (this.#position === this.#openedAt) throw this.#failure(cause);
      }
      this.#reader = this.#open();
    }
  }

  /** Gives up what was not taken. */
  async cancel(): Promise<void> {
    // A transfer that failed has nothing left to give up, and whoever reads has been told.
    await this.#reader.then((reader) => reader.cancel()).catch(() => undefined);
  }

  #open(): Promise<ReadableStreamBYOBReader> {
    this.#openedAt = this.#position;
    const opening = this.#store
      .open(this.#key, this.#position, this.#end - this.#position)
      .then((body) => body.getReader({ mode: "byob" }));
    // A failure is met when the bytes are read; until then it must not count as unhandled.
    opening.catch(() => undefined);
    return opening;
  }

  async #fill(view: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    const wanted = view.length;
    const { value } = await (await this.#reader).readAtLeast(wanted, view);
    if (value?.length !== wanted) throw wrongLength(this.#key, wanted, value?.length ?? 0);
    return value;
  }

  #failure(cause: unknown): GitError {
    if (cause instanceof GitError) return cause;
    const reason = `get broke off: ${cause instanceof Error ? cause.message : String(cause)}`;
    return new GitError("storage-failed", { key: this.#key, reason }, { cause });
  }
}
