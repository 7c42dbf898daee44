import { IDLE_INDEXER, SMALL_INSTANCE_BYTES } from "../../base/codec/indexer-instance.ts";
import { LARGE_MEMORY_BYTES } from "../../base/format/limits.ts";
import { ISOLATE_MEMORY, type Lease, type MemoryBudget, type Spare } from "../../base/pacing/memory-budget.ts";

// After the caches, which make way first.
ISOLATE_MEMORY.keep(IDLE_INDEXER);

const MIB = 1024 * 1024;

/** Common memory of a push: the module with its window, its ring, contents up to
 * `FREE_CONTENT_BYTES` and tables of about 10,000 objects; for a large push also the open chunk and
 * those being written. */
const SMALL_PUSH_BYTES = 8 * MIB;
const LARGE_PUSH_BYTES = 26 * MIB;

/** Bytes of a large push's module above which it needs the large part, besides its writer's
 * memory. */
const LARGE_MODULE_BYTES = 15 * MIB;

/** A pack with more objects will need larger tables than that. */
const MANY_OBJECTS = 25_000;

/** How often a waiting push shows that it is alive. */
const ALIVE_MS = 30_000;

/** The memory of one push. It has its common part from beginning to end, and the large part from
 * when it needs it. */
export class PushMemory {
  readonly #budget: MemoryBudget;
  readonly #common: Lease;
  readonly #moduleBytes: number;
  #large: Lease | null = null;
  #more: Lease | null = null;
  #endSpare: () => void = () => undefined;

  private constructor(budget: MemoryBudget, common: Lease, moduleBytes: number) {
    this.#budget = budget;
    this.#common = common;
    this.#moduleBytes = moduleBytes;
  }

  /** Waits for the common part.
   * @throws GitError "unavailable" */
  static async take(isSmall: boolean, budget = ISOLATE_MEMORY): Promise<PushMemory> {
    const common = await budget.take(isSmall ? SMALL_PUSH_BYTES : LARGE_PUSH_BYTES);
    return new PushMemory(budget, common, isSmall ? SMALL_INSTANCE_BYTES : LARGE_MODULE_BYTES);
  }

  /** Whether this push has the large part. */
  get hasLarge(): boolean {
    return this.#large !== null;
  }

  /** Whether other pushes wait for the large part of this one. */
  get isWanted(): boolean {
    return this.#large !== null && this.#budget.isLargeWanted;
  }

  /** Whether the module may not grow further without the large part. */
  outgrows(moduleBytes: number, objects: number): boolean {
    return this.#large === null && (moduleBytes > this.#moduleBytes || objects > MANY_OBJECTS);
  }

  /** Waits for the large part, or takes as much common memory if that is free, until the push ends.
   * @param alive called repeatedly meanwhile
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

  /** Takes more common memory once, until the push ends, if it is free now.
   * @returns whether it is */
  tryTakeMore(bytes: number): boolean {
    this.#more = this.#budget.tryTake(bytes);
    return this.#more !== null;
  }

  /** Bytes that caches may still take. */
  get freeBytes(): number {
    return this.#budget.freeBytes;
  }

  /** Registers a cache of the push that makes way for other requests. */
  keep(spare: Spare): void {
    this.#endSpare = this.#budget.keep(spare);
  }

  renew(): void {
    this.#common.renew();
    this.#large?.renew();
    this.#more?.renew();
  }

  free(): void {
    this.#endSpare();
    this.#large?.free();
    this.#more?.free();
    this.#common.free();
  }
}
