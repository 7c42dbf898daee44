import { GitError } from "../../base/format/errors.ts";
import { BODY_WAIT_MS, MIN_BODY_BYTES, MIN_INNER_PART_BYTES } from "../../base/format/limits.ts";
import type { StoredPart } from "../store/jobs/upload-table.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { ArrivalPace } from "../../base/pacing/paced-body.ts";
import type { StepParts } from "./step-pack.ts";
import { findOpenUpload } from "./upload.ts";

/** The parts of a pack from a number on, which may still be on their way: each is waited for. The
 * last is the one in which the pack ends, or that is too small for another one. */
export class ArrivingParts implements StepParts {
  readonly mayGoOn = true;
  readonly known: StoredPart[] = [];
  storedBytes: number;
  readonly #repository: OpenRepository;
  readonly #id: string;
  readonly #from: number;
  #minBytes = (): number => MIN_BODY_BYTES;
  readonly #pace = new ArrivalPace("next part", () => Math.max(MIN_BODY_BYTES, this.#minBytes()));

  /** @param id of the session */
  constructor(repository: OpenRepository, id: string, from: number) {
    this.#repository = repository;
    this.#id = id;
    this.#from = from;
    this.storedBytes = repository.tables.uploads.bytesFrom(id, from);
  }

  /** @throws GitError "not-found" or "conflict" when the session has ended, "timeout" when a part
   * does not come */
  async next(): Promise<StoredPart | null> {
    const last = this.known.at(-1);
    if (last !== undefined && last.sizeBytes < MIN_INNER_PART_BYTES) return null;
    const number = this.#from + this.known.length;
    const startMs = Date.now();
    for (;;) {
      const { tables } = this.#repository;
      findOpenUpload(tables, this.#id);
      const part = tables.uploads.part(this.#id, number);
      if (part !== null) {
        this.#pace.count(Date.now() - startMs, part.sizeBytes);
        this.known.push(part);
        this.storedBytes = tables.uploads.bytesFrom(this.#id, this.#from);
        return part;
      }
      await this.#awaitChange(number);
    }
  }

  demandPace(minBytes: () => number): void {
    this.#minBytes = minBytes;
  }

  /** Waits until a part of the session has come, or the session has ended. */
  async #awaitChange(number: number): Promise<void> {
    const { awaitedUploads } = this.#repository.state;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const changed = new Promise<void>((resolve) => awaitedUploads.set(this.#id, resolve));
    const late = new Promise<never>((_, reject) => {
      const reason = `part ${number} did not come in ${BODY_WAIT_MS / 1_000} seconds; have it indexed again once that is there`;
      timer = setTimeout(() => reject(new GitError("timeout", { what: "step", reason })), BODY_WAIT_MS);
    });
    try {
      await Promise.race([changed, late]);
    } finally {
      clearTimeout(timer);
      awaitedUploads.delete(this.#id);
    }
  }
}
