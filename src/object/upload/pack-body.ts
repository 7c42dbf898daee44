import { MIN_BODY_BYTES } from "../../base/format/limits.ts";
import { PacedBody } from "../../base/pacing/paced-body.ts";

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
