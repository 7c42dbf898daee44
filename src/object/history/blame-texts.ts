import { GitError } from "../../base/format/errors.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import { type LineChange, MAX_DIFF_STEPS } from "../../base/lines/line-diff.ts";
import { type NumberedLines, VersionLines } from "../diff/version-lines.ts";
import { MAX_PREPARED, type PreparedObjects } from "../objects/object-reader.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { stepsToRead, type WorkBudget } from "../../base/pacing/work-budget.ts";
import { ByteCache } from "../../base/bytes/byte-cache.ts";

/** The most bytes, and lines, of a version whose lines are traced. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_FILE_LINES = 500_000;

/** Bytes of versions kept as lines: a version is compared with its child and then with its
 * parent. */
const LINES_BYTES = 8 * 1024 * 1024;

/** Groups of versions whose places are known at a time: each may hold the bytes of chunks that are
 * not in the bucket yet. */
const KEPT_PREPARED = 4;

/** Bytes of the numbering of lines beyond which a new one begins. */
const NUMBERING_BYTES = 16 * 1024 * 1024;

/** Steps of a comparison that count as one of `WorkBudget`'s, though they take a fifth of its time:
 * a blame may read for five seconds, but texts that differ everywhere are compared for one. */
const DIFF_STEPS_PER_STEP = 100;

/** Bytes looked at and split in the time of one of `WorkBudget`'s steps. */
const BYTES_PER_STEP = 64 * 1024;
const SPLIT_BYTES_PER_STEP = 4 * 1024;

/** The versions of a file that a blame compares. */
export class BlameTexts {
  readonly #repository: OpenRepository;
  readonly #budget: WorkBudget;
  /** The versions whose places are known, those looked for last first. */
  #prepared: PreparedObjects[] = [];
  #lines = new ByteCache<NumberedLines>(LINES_BYTES);
  #versions = new VersionLines();
  /** The version that was numbered last. */
  #last: NumberedLines | undefined;

  constructor(repository: OpenRepository, budget: WorkBudget) {
    this.#repository = repository;
    this.#budget = budget;
  }

  /** The changes from one version to the next, as git's blame finds them.
   * @param old object number of a blob
   * @param ahead the versions that are likely to be compared next
   * @throws GitError "too-large", "storage-failed" */
  async compare(old: ObjectNumber, next: ObjectNumber, ahead: () => ObjectNumber[]): Promise<LineChange[]> {
    if (this.#versions.sizeBytes > NUMBERING_BYTES) {
      this.#versions = new VersionLines();
      this.#lines = new ByteCache(LINES_BYTES);
      this.#last = undefined;
    }
    const after = await this.#number(next, this.#last, ahead);
    const before = await this.#number(old, after, ahead);
    const effort = { stepsLeft: MAX_DIFF_STEPS };
    const changes = this.#versions.compare(before, after, effort);
    await this.#budget.step(1 + Math.ceil((MAX_DIFF_STEPS - effort.stepsLeft) / DIFF_STEPS_PER_STEP));
    return changes;
  }

  async #number(
    blob: ObjectNumber,
    near: NumberedLines | undefined,
    ahead: () => ObjectNumber[],
  ): Promise<NumberedLines> {
    const kept = this.#lines.get(String(blob));
    if (kept !== undefined) return (this.#last = kept);
    const bytes = await this.#text(blob, ahead);
    const numbered = this.#versions.number(bytes, near);
    const { count } = numbered.lines;
    if (count > MAX_FILE_LINES) {
      throw new GitError("too-large", { what: "a version of the file (lines)", limit: MAX_FILE_LINES, actual: count });
    }
    this.#lines.set(String(blob), numbered, bytes.length + 8 * count);
    await this.#budget.step(
      Math.ceil(bytes.length / BYTES_PER_STEP) + Math.ceil(numbered.workBytes / SPLIT_BYTES_PER_STEP),
    );
    return (this.#last = numbered);
  }

  /** Reads a version; finds where those are that are likely to be compared next. */
  async #text(blob: ObjectNumber, ahead: () => ObjectNumber[]): Promise<Uint8Array> {
    checkSize(this.#repository, blob);
    const find = (number: ObjectNumber) => this.#prepared.find((one) => one.has(number));
    let prepared = find(blob);
    if (prepared === undefined) {
      const others = ahead().filter((number) => number !== 0 && number !== blob && find(number) === undefined);
      prepared = this.#repository.reader.prepare([blob, ...others].slice(0, MAX_PREPARED));
      this.#prepared = [prepared, ...this.#prepared].slice(0, KEPT_PREPARED);
    }
    const { bytes } = await prepared.read(blob);
    await this.#budget.step(stepsToRead(bytes.length));
    return bytes;
  }
}

/** Checks that a version of a file is not too large to be traced.
 * @throws GitError "too-large" */
export function checkSize({ reader }: OpenRepository, blob: ObjectNumber): void {
  const sizeBytes = reader.sizes(NumberSet.of(blob)).get(blob)!;
  if (sizeBytes <= MAX_FILE_BYTES) return;
  throw new GitError("too-large", { what: "a version of the file", limit: MAX_FILE_BYTES, actual: sizeBytes });
}
