import { LARGE_MEMORY_BYTES } from "../../format/limits.ts";
import { ISOLATE_MEMORY, type Lease, type MemoryBudget, type Spare } from "../pacing/memory-budget.ts";

const MIB = 1024 * 1024;

/** Common memory of a push: the module with its window, its ring, contents up to
 * `FREE_CONTENT_BYTES` and tables of some 10,000 objects; and of a large one the open chunk, and
 * those on their way. */
const SMALL_PUSH_BYTES = 8 * MIB;
const LARGE_PUSH_BYTES = 28 * MIB;

/** Bytes of the module above which a push needs the large part, beside what its writer takes. */
const SMALL_MODULE_BYTES = 7 * MIB;
const LARGE_MODULE_BYTES = 17 * MIB;

/** Objects of a pack whose tables will outgrow that. */
const MANY_OBJECTS = 25_000;

/** How often who waits says that it is alive. */
const ALIVE_MS = 30_000;

/** The memory of one push. It has its common part from the beginning to the end, and the large part
 * from when it needs it. */
export class PushMemory {
  readonly #budget: MemoryBudget;
  readonly #common: Lease;
  readonly #moduleBytes: number;
  #large: Lease | null = null;
  #endSpare: () => void = () => undefined;

  private constructor(budget: MemoryBudget, common: Lease, moduleBytes: number) {
    this.#budget = budget;
    this.#common = common;
    this.#moduleBytes = moduleBytes;
  }

  /** Waits for what every push has.
   * @throws GitError "unavailable" */
  static async take(isSmall: boolean, budget = ISOLATE_MEMORY): Promise<PushMemory> {
    const common = await budget.take(isSmall ? SMALL_PUSH_BYTES : LARGE_PUSH_BYTES);
    return new PushMemory(budget, common, isSmall ? SMALL_MODULE_BYTES : LARGE_MODULE_BYTES);
  }

  /** Whether the large part is this push's. */
  get hasLarge(): boolean {
    return this.#large !== null;
  }

  /** Whether others wait for what this push has beside its common part. */
  get isWanted(): boolean {
    return this.#large !== null && this.#budget.isLargeWanted;
  }

  /** Whether the module may not grow further without the large part. */
  outgrows(moduleBytes: number, objects: number): boolean {
    return this.#large === null && (moduleBytes > this.#moduleBytes || objects > MANY_OBJECTS);
  }

  /** Waits for the large part, or as much of the common one if that is free, which it has until the
   * end.
   * @param alive called again and again meanwhile
   * @throws GitError "unavailable" */
  async takeLarge(alive: () => void): Promise<void> {
    if (this.#large !== null) return;
    this.#large = this.#budget.isLargeTaken ? this.#budget.tryTake(LARGE_MEMORY_BYTES) : null;
    if (this.#large !== null) return;
    const timer = setInterval(() => {
      this.renew();
      alive();
    }, ALIVE_MS);
    try {
      this.#large = await this.#budget.takeLarge();
    } finally {
      clearInterval(timer);
    }
  }

  /** Bytes that may be kept besides, beyond what is kept already. */
  get freeBytes(): number {
    return this.#budget.freeBytes;
  }

  /** Has something that the push keeps make way for others. */
  keep(spare: Spare): void {
    this.#endSpare = this.#budget.keep(spare);
  }

  renew(): void {
    this.#common.renew();
    this.#large?.renew();
  }

  free(): void {
    this.#endSpare();
    this.#large?.free();
    this.#common.free();
  }
}
