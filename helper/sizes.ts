import { readSize } from "./git.ts";
import type { Step, StepLimits } from "./plan.ts";

const MIB = 1024 * 1024;

/** Maximum objects and bytes of a push that is sent as one ordinary request. The bytes are an
 * estimate, and the platform ends a body at 100 MB. */
const PLAIN_OBJECTS = 50_000;
const PLAIN_BYTES = 32 * MIB;

/** Maximum size of one step. Small steps are indexed by the server within seconds, which is what an
 * interruption costs; large steps let git find its deltas, and the server rarely reads their bases.
 * The server keeps the entries of trees in memory while it indexes: some 4 MiB for 32 MiB of
 * trees. */
const STEP_OBJECTS = 450_000;
const STEP_BYTES = 256 * MIB;
const STEP_TREE_BYTES = 128 * MIB;

/** Maximum size of one part: a slow connection sends it in minutes, and a few are sent in parallel.
 * The first part of a pack is small, and each may be twice as large as the previous one, so that
 * the server begins to index early. */
const PART_BYTES = 16 * MIB;
const FIRST_PART_BYTES = 1 * MIB;

/** Number of a pack's parts after which the size doubles, within the server's limit: the server
 * stores a thousand parts, and the size of a pack is not known in advance. */
const PARTS_OF_A_SIZE = 200;

type PlainLimits = Pick<StepLimits, "objects" | "bytes">;

/** Sizes for dividing a large push: `holdfast.plainObjects`, `plainBytes`, `stepObjects`,
 * `stepBytes` and `partBytes` of git's configuration, within the server's limits. */
export class Sizes {
  readonly plain: PlainLimits;
  readonly step: StepLimits;
  readonly #partBytes: number;
  readonly #mostPartBytes: number;

  private constructor(plain: PlainLimits, step: StepLimits, partBytes: number, mostPartBytes: number) {
    this.plain = plain;
    this.step = step;
    this.#partBytes = partBytes;
    this.#mostPartBytes = mostPartBytes;
  }

  /** @throws Error for a setting that is not a number */
  static async read(): Promise<Sizes> {
    const most = Number.MAX_SAFE_INTEGER;
    const [plainObjects, plainBytes, stepObjects, stepBytes, partBytes] = await Promise.all([
      readSize("holdfast.plainObjects", PLAIN_OBJECTS, most),
      readSize("holdfast.plainBytes", PLAIN_BYTES, most),
      readSize("holdfast.stepObjects", STEP_OBJECTS, most),
      readSize("holdfast.stepBytes", STEP_BYTES, most),
      readSize("holdfast.partBytes", PART_BYTES, most),
    ]);
    return new Sizes(
      { objects: plainObjects, bytes: plainBytes },
      { objects: stepObjects, bytes: stepBytes, treeBytes: STEP_TREE_BYTES },
      partBytes,
      most,
    );
  }

  /** Reduces the sizes to the server's limits, with a margin: a pack may be larger than git's
   * stored objects, and contain some objects that were not counted. */
  within(limits: { readonly partBytes: number; readonly stepBytes: number; readonly stepObjects: number }): Sizes {
    const step = {
      ...this.step,
      objects: Math.min(this.step.objects, Math.max(1, Math.floor(0.9 * limits.stepObjects))),
      bytes: Math.min(this.step.bytes, Math.max(1, Math.floor(limits.stepBytes / 2))),
    };
    return new Sizes(this.plain, step, this.#partBytes, limits.partBytes);
  }

  /** Maximum size of a body, bytes. */
  get bodyBytes(): number {
    return this.#mostPartBytes;
  }

  /** Yields the sizes of a pack's successive parts, bytes; the last part may be smaller. */
  *parts(): Generator<number, never> {
    for (let before = 0; ; before++) {
      const usual = this.#partBytes * 2 ** Math.floor(before / PARTS_OF_A_SIZE);
      yield Math.min(usual, FIRST_PART_BYTES * 2 ** before, this.#mostPartBytes);
    }
  }

  /** Whether steps are divided by the same limits. */
  isSame({ step }: Sizes): boolean {
    const { objects, bytes, treeBytes } = this.step;
    return step.objects === objects && step.bytes === bytes && step.treeBytes === treeBytes;
  }

  /** Halves the limits for a step that the server refused as too large; null: the step was a single
   * object. */
  smallerThan({ objects, bytes, treeBytes }: Step): Sizes | null {
    const halve = (most: number): number => Math.max(1, Math.floor(most / 2));
    const step = { objects: Math.floor(objects / 2), bytes: halve(bytes), treeBytes: halve(treeBytes) };
    const isSmaller = step.objects < this.step.objects || step.bytes < this.step.bytes;
    return step.objects < 1 || !isSmaller ? null : new Sizes(this.plain, step, this.#partBytes, this.#mostPartBytes);
  }
}
