import { readSize } from "./git.ts";
import type { Step, StepLimits } from "./plan.ts";

const MIB = 1024 * 1024;

/** Objects and bytes up to which a push goes as one request, as any push. The bytes are an
 * estimate, and the platform ends a body at 100 MB. */
const PLAIN_OBJECTS = 50_000;
const PLAIN_BYTES = 32 * MIB;

/** Of one step: few enough that the server indexes it in seconds, which a cut loses; enough that
 * git finds its deltas, and that the server seldom reads what they begin from. What trees name is
 * kept in the server's memory while it indexes: some 4 MiB for 32 MiB of trees. */
const STEP_OBJECTS = 450_000;
const STEP_BYTES = 256 * MIB;
const STEP_TREE_BYTES = 128 * MIB;

/** Of one part: a slow line brings it in minutes, and a few are under way at a time. The first of a
 * pack is small, and each may be twice as large as the one before it: the server begins to index
 * soon. */
const PART_BYTES = 16 * MIB;
const FIRST_PART_BYTES = 1 * MIB;

/** Parts of a pack after which they are twice as large, as far as the server takes them: it keeps a
 * thousand, and nobody knows how large a pack will be. */
const PARTS_OF_A_SIZE = 200;

type PlainLimits = Pick<StepLimits, "objects" | "bytes">;

/** How a large push is cut: `holdfast.plainObjects`, `plainBytes`, `stepObjects`, `stepBytes` and
 * `partBytes` of git's configuration, and what the server allows. */
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

  /** @throws Error for a setting that is no number */
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

  /** The same, within the server's limits. A pack may be larger than what git has stored of it, and
   * have some objects that were not counted. */
  within(limits: { readonly partBytes: number; readonly stepBytes: number; readonly stepObjects: number }): Sizes {
    const step = {
      ...this.step,
      objects: Math.min(this.step.objects, Math.max(1, Math.floor(0.9 * limits.stepObjects))),
      bytes: Math.min(this.step.bytes, Math.max(1, Math.floor(limits.stepBytes / 2))),
    };
    return new Sizes(this.plain, step, this.#partBytes, limits.partBytes);
  }

  /** Bytes of a body, at most. */
  get bodyBytes(): number {
    return this.#mostPartBytes;
  }

  /** Bytes of a pack's parts, one after the other: the last may have fewer. */
  *parts(): Generator<number, never> {
    for (let before = 0; ; before++) {
      const usual = this.#partBytes * 2 ** Math.floor(before / PARTS_OF_A_SIZE);
      yield Math.min(usual, FIRST_PART_BYTES * 2 ** before, this.#mostPartBytes);
    }
  }

  /** Whether steps are cut alike. */
  isSame({ step }: Sizes): boolean {
    const { objects, bytes, treeBytes } = this.step;
    return step.objects === objects && step.bytes === bytes && step.treeBytes === treeBytes;
  }

  /** Half of what a step had that the server refused as too large; null: it was a single object. */
  smallerThan({ objects, bytes, treeBytes }: Step): Sizes | null {
    const halve = (most: number): number => Math.max(1, Math.floor(most / 2));
    const step = { objects: Math.floor(objects / 2), bytes: halve(bytes), treeBytes: halve(treeBytes) };
    const isSmaller = step.objects < this.step.objects || step.bytes < this.step.bytes;
    return step.objects < 1 || !isSmaller ? null : new Sizes(this.plain, step, this.#partBytes, this.#mostPartBytes);
  }
}
