import type { Api } from "./api.ts";
import type { Part } from "./packs.ts";
import type { Saved } from "./saved.ts";

/** Parts that are sent in parallel: one connection rarely uses the whole bandwidth. */
const SIDE_BY_SIDE = 4;

/** Sends the files of parts in the order in which they were added, several in parallel. */
export class Sending {
  readonly #api: Api;
  readonly #saved: Saved;
  readonly #id: string;
  readonly #count: (bytes: number) => void;
  /** Checksums of the parts that the server has, by number. */
  readonly #there: ReadonlyMap<number, string>;
  readonly #waiting: { part: Part; begin: () => void; drop: (reason: Error) => void }[] = [];
  readonly #sent = new Map<number, Promise<void>>();
  #running = 0;
  #isStopped = false;

  /** @param id of the session
   * @param there the parts that the server has
   * @param count called with each number of bytes sent */
  constructor(
    api: Api,
    saved: Saved,
    id: string,
    there: readonly { readonly part: number; readonly checksum: string }[],
    count: (bytes: number) => void,
  ) {
    this.#api = api;
    this.#saved = saved;
    this.#id = id;
    this.#there = new Map(there.map(({ part, checksum }) => [part, checksum]));
    this.#count = count;
  }

  /** Queues a part for sending, unless the server has it. */
  add(part: Part): void {
    const sent = this.#there.get(part.number) === part.sha256 ? Promise.resolve() : this.#send(part);
    // The caller that awaits the part gets the error.
    sent.catch(() => undefined);
    this.#sent.set(part.number, sent);
  }

  /** Waits until the given parts have arrived.
   * @throws the error of the first part that could not be sent */
  async awaitParts(parts: readonly Part[]): Promise<void> {
    for (const { number } of parts) await this.#sent.get(number);
  }

  /** Drops the parts that are still queued. */
  stop(): void {
    this.#isStopped = true;
    for (const { drop } of this.#waiting.splice(0)) drop(new Error("the upload was given up"));
  }

  async #send(part: Part): Promise<void> {
    await this.#turn(part);
    try {
      const body = { path: this.#saved.pathOf(part.number), sizeBytes: part.sizeBytes };
      const path = `/uploads/${this.#id}/parts/${part.number}?sha256=${part.sha256}`;
      await this.#api.ask("PUT", path, body, { sent: this.#count });
    } finally {
      this.#running -= 1;
      this.#next();
    }
  }

  #turn(part: Part): Promise<void> {
    if (this.#isStopped) return Promise.reject(new Error("the upload was given up"));
    return new Promise((begin, drop) => {
      this.#waiting.push({ part, begin, drop });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running >= SIDE_BY_SIDE) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#running += 1;
    next.begin();
  }
}
