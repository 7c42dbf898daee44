import { readSize } from "./git.ts";
import type { Step, StepLimits } from "./plan.ts";

const MIB = 1024 * 1024;

/** Objects and bytes up to which a push goes as one request, as any push. The bytes are an
 * estimate, and the platform ends a body at 100 MB. */
const PLAIN_OBJECTS = 50_000;
const PLAIN_BYTES = 32 * MIB;

/** Of one step: few enough that the server indexes it in seconds, and that little is lost by a cut;
 * enough that git finds its deltas, and that the server seldom reads what they begin from. What
 * trees name is kept in the server's memory while it indexes: some 4 MiB for 32 MiB of trees. */
const STEP_OBJECTS = 200_000;
const STEP_BYTES = 64 * MIB;
const STEP_TREE_BYTES = 128 * MIB;

/** Of one part: a slow line brings it in minutes, and a few are under way at a time. */
const PART_BYTES = 16 * MIB;

type PlainLimits = Pick<StepLimits, "objects" | "bytes">;

/** How a large push is cut: `holdfast.plainObjects`, `plainBytes`, `stepObjects`, `stepBytes` and
 * `partBytes` of git's configuration, and what the server allows. */
export class Sizes {
  readonly plain: PlainLimits;
  readonly step: StepLimits;
  readonly partBytes: number;

  private constructor(plain: PlainLimits, step: StepLimits, partBytes: number) {
    this.plain = plain;
    this.step = step;
    this.partBytes = partBytes;
  }

  /** @throws Error for a setting that is no number */
  static async read(): Promise<Sizes> {
    const most = Number.MAX_SAFE_INTEGER;
    return new Sizes(
      {
        objects: await readSize("holdfast.plainObjects", PLAIN_OBJECTS, most),
        bytes: await readSize("holdfast.plainBytes", PLAIN_BYTES, most),
      },
      {
        objects: await readSize("holdfast.stepObjects", STEP_OBJECTS, most),
        bytes: await readSize("holdfast.stepBytes", STEP_BYTES, most),
        treeBytes: STEP_TREE_BYTES,
      },
      await readSize("holdfast.partBytes", PART_BYTES, most),
    );
  }

  /** The same, within the server's limits. A pack may be larger than what git has stored of it. */
  within(limits: { readonly partBytes: number; readonly stepBytes: number; readonly stepObjects: number }): Sizes {
    const step = {
      ...this.step,
      objects: Math.min(this.step.objects, Math.max(1, Math.floor(limits.stepObjects / 2))),
      bytes: Math.min(this.step.bytes, Math.max(1, Math.floor(limits.stepBytes / 2))),
    };
    return new Sizes(this.plain, step, Math.min(this.partBytes, limits.partBytes));
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
    return step.objects < 1 || !isSmaller ? null : new Sizes(this.plain, step, this.partBytes);
  }
}
