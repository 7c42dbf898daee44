import { MIN_BODY_BYTES } from "../../format/limits.ts";
import { PacedBody } from "../pacing/paced-body.ts";

/** A pack that comes in the body of the request that has it indexed. */
export interface SentPack {
  readonly body: ReadableStream<Uint8Array>;
  /** The number of the part in which the pack goes on behind the body, and after it in those that
   * follow: they may still be on their way. Null: it ends in the body. */
  readonly from: number | null;
}

/** What of a pack is in a request's body. One piece is read ahead: the end is known once the last
 * one is taken. */
export class PackBody {
  readonly #body: PacedBody;
  /** Undefined: nothing has been read. */
  #next: Uint8Array | null | undefined;
  #minBytes = (): number => 0;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#body = new PacedBody(body, () => Math.max(MIN_BODY_BYTES, this.#minBytes()));
  }

  /** Whether there are no more. */
  get hasEnded(): boolean {
    return this.#next === null;
  }

  /** @see PackSource.demandPace */
  demandPace(minBytes: () => number): void {
    this.#minBytes = minBytes;
  }

  /** Takes the next bytes.
   * @returns null: there are no more
   * @throws GitError as `PacedBody.read` */
  async read(): Promise<Uint8Array | null> {
    const piece = this.#next === undefined ? await this.#body.read() : this.#next;
    this.#next = piece === null ? null : await this.#body.read();
    return piece;
  }

  /** Gives up the rest. */
  async cancel(): Promise<void> {
    await this.#body.cancel().catch(() => undefined);
  }
}
