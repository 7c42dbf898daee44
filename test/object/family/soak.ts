/** One seeded run of a family: repositories are made, forked, pushed to, maintained and deleted,
 * some of it at the same time, while calls fail and processes die. Then time passes, and what is
 * left must be exactly what the living need. */
import { DEFAULT_LIMITS } from "../../../src/base/format/configured-limits.ts";
import { isGitError } from "../../../src/base/format/errors.ts";
import { Random } from "../../harness/random.ts";
import type { Fault } from "../../harness/faulty-chunk-store.ts";
import { History } from "../simulation/history.ts";
import { VirtualTime } from "../simulation/virtual-time.ts";
import { FamilyWorld } from "./family-world.ts";
import { anyBorrowing, learn } from "./borrowings.ts";
import {
  anyFork,
  anyPush,
  clone,
  maintain,
  type Operation,
  remove,
  restore,
  type Scene,
  sendClones,
  type State,
} from "./operations.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** After this time all jobs are done: pruning, sweeping and unpinning take a day and some hours
 * each. */
const SETTLE_MS = 15 * DAY_MS;

/** The most repositories of a run, those that exist at a time, and the least rounds. */
const USUAL = { repositories: 20, living: 7, rounds: 15 };

/** The same for each tenth seed. */
const LARGE = { repositories: 40, living: 20, rounds: 30 };
const LARGE_EVERY = 10;

/** How many calls an operation makes, more or less. */
const CALLS = 150;

/** The result of a run. */
export interface SoakResult {
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  /** How often each kind of operation was done, how many merges landed, and how many repositories
   * existed at a time. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Makes one run. Only one may run at a time: it replaces the process's clock. */
export async function soak(seed: number): Promise<SoakResult> {
  const random = new Random(seed * 2_654_435_761);
  const time = new VirtualTime();
  const run = new Soak(random, time, seed % LARGE_EVERY === 0 ? LARGE : USUAL);
  const restore = time.install(random);
  try {
    await time.run(run.act());
  } catch (error) {
    run.fail(`it ended: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    run.scene.world.start();
    await time.drain();
    restore();
  }
  return run;
}

class Soak implements SoakResult {
  readonly violations: string[] = [];
  readonly trace: string[] = [];
  readonly counts = new Map<string, number>();
  readonly scene: Scene;
  readonly #random: Random;
  readonly #time: VirtualTime;
  #numbers = 0;
  readonly #size: typeof USUAL;
  /** Whether several operations run at the same time. */
  #isCrowded = false;

  constructor(random: Random, time: VirtualTime, size: typeof USUAL) {
    this.#random = random;
    this.#size = size;
    this.#time = time;
    const world = new FamilyWorld({
      limits: {
        pruneGraceMs: random.pick([0, 0, HOUR_MS]),
        minBundleBytes: random.pick([200_000, DEFAULT_LIMITS.minBundleBytes]),
        bundleDelayMs: SECOND_MS,
      },
      pause: () => (this.#isCrowded ? time.sleep(random.below(30)) : Promise.resolve()),
      partRows: () => random.pick([2, 5, Infinity]),
      late: () => (random.below(3) > 0 ? null : time.sleep(random.below(10 * SECOND_MS))),
      note: (text) => this.#note(`  ${text}`),
    });
    this.scene = {
      world,
      random,
      history: new History(),
      states: new Map<string, State>(),
      expiries: new Map<string, number>(),
      clones: [],
      nextNumber: () => ++this.#numbers,
    };
  }

  fail(reason: string): void {
    this.#note(`VIOLATION ${reason}`);
    this.violations.push(reason);
  }

  async act(): Promise<void> {
    const { world, states } = this.scene;
    for (let left = this.#size.rounds + this.#random.below(15); left > 0 && this.violations.length === 0; left--) {
      await this.#together(this.#choose());
      if (left % 8 === 0) for (const id of states.keys()) await this.#checkOne(id);
    }
    if (this.violations.length > 0) return;
    this.#note("everybody is done");
    world.start();
    await this.#pass(SETTLE_MS);
    world.checkPins();
    await world.askReserved();
    await this.#pass(SETTLE_MS);
    await this.#adopt();
    for (const id of states.keys()) await this.#checkOne(id);
    await world.watch(() => world.checkSettled());
  }

  /** One to three operations on different repositories. */
  #choose(): Operation[] {
    const operations: Operation[] = [];
    const count = 1 + this.#random.below(3);
    for (let i = 0; i < count; i++) {
      const operation = this.#chooseOne(operations);
      if (operation !== null) operations.push(operation);
    }
    return operations;
  }

  /** @param others that run at the same time */
  #chooseOne(others: readonly Operation[]): Operation | null {
    const { scene } = this;
    const { states } = scene;
    const random = this.#random;
    const living = [...states].filter(([, state]) => state !== null).map(([id]) => id);
    const isNameLeft = states.size < this.#size.repositories;
    const isRoom = living.length < this.#size.living && isNameLeft;
    this.counts.set("living", Math.max(living.length, this.counts.get("living") ?? 0));
    const free = living.filter((id) => others.every(({ target }) => target !== id));
    const forked = others.map(({ parent }) => parent).find((id) => id !== undefined && free.includes(id));
    const isGrowing = this.#size === LARGE && isRoom;
    if (isGrowing && living.length > 0 && random.below(3) === 0)
      return anyFork(scene, this.#newId(), random.pick(living));
    const choice = random.below(23);
    if (living.length === 0 || (choice === 0 && isRoom)) {
      return isNameLeft ? anyPush(scene, this.#newId()) : null;
    }
    if (choice < 5 && isRoom) return anyFork(scene, this.#newId(), random.pick(living));
    if (choice < 6 && isRoom) return restore(scene, this.#newId(), random.pick(living));
    if (free.length === 0) return null;
    const target = forked !== undefined && random.below(2) === 0 ? forked : random.pick(free);
    if (choice < 8 && !isGrowing) return remove(scene, target);
    if (choice < 11) return maintain(scene, target);
    if (choice < 13) return clone(scene, target);
    // Two that take from each other at the same time have too many outcomes.
    const isBorrowing = others.some(({ source }) => source !== undefined);
    if (choice < 20 || living.length < 2 || isBorrowing) return anyPush(scene, target);
    return anyBorrowing(scene, target, random.pick(living.filter((id) => id !== target)));
  }

  #newId(): string {
    const { states, world } = this.scene;
    const id = `r${states.size}`;
    states.set(id, null);
    world.reserve(id);
    return id;
  }

  /** Runs operations at the same time, often with a fault, lets time pass, and checks. */
  async #together(operations: readonly Operation[]): Promise<void> {
    const { world, states } = this.scene;
    const random = this.#random;
    this.#isCrowded = operations.length > 1;
    const isTroubled = random.below(2) === 0;
    if (isTroubled)
      world.arm(random.below(CALLS * operations.length), random.pick<Fault>(["before", "after", "crash"]));
    else world.disarm();
    const works: Promise<unknown>[] = operations.map((operation) => this.#run(operation));
    if (this.#isCrowded && random.below(2) === 0) works.push(this.#pass(random.below(20 * SECOND_MS)));
    const isDone = (await Promise.all(works)).slice(0, operations.length) as boolean[];
    await Promise.all([world.drain(), this.#pass(SECOND_MS)]);
    await this.#pass(random.pick([0, SECOND_MS, 3 * MINUTE_MS, 2 * HOUR_MS, 23 * HOUR_MS]));
    const wasHit = world.isHit;
    world.disarm();
    this.#isCrowded = false;
    await this.#adopt(operations, isDone);
    await world.watch(() => sendClones(this.scene));
    for (const [i, operation] of operations.entries()) {
      await this.#checkOne(operation.target);
      if (isDone[i]! || this.violations.length > 0) continue;
      if (operations.length === 1 && !wasHit) this.fail("it failed although nothing had happened");
      const again = random.below(2) === 0 && !this.#isOver(operation.target) ? operation.again() : null;
      if (again === null) continue;
      this.#note("again:");
      if (!(await this.#run(again))) this.fail("it failed again");
      await this.#adopt([again], [true]);
    }
    if (random.below(4) === 0) await this.#pass(random.pick([HOUR_MS, 25 * HOUR_MS]));
    await this.#adopt();
    for (const id of states.keys()) if (random.below(20) === 0) world.kill(id);
  }

  /** @returns whether it was acknowledged */
  async #run(operation: Operation): Promise<boolean> {
    this.#note(operation.name);
    const kind = operation.name.split(" ", 1)[0]!;
    try {
      await operation.run();
      this.#note(`done: ${operation.name}`);
      this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
      return true;
    } catch (error) {
      const told = isGitError(error) ? `${error.code} ${JSON.stringify(error.data)}` : String(error);
      this.#note(`failed: ${operation.name}: ${told}`);
      return false;
    }
  }

  /** Looks at the repositories, and compares what there is with what may be.
   * @param isDone which of the operations were acknowledged */
  async #adopt(operations: readonly Operation[] = [], isDone: readonly boolean[] = []): Promise<void> {
    const { world, states } = this.scene;
    const actual = new Map<string, State>();
    for (const id of states.keys()) {
      const refs = await world.watch(() => world.refsOf(id));
      actual.set(id, refs);
      const merges = await world.watch(() => learn(this.scene, id, refs));
      if (merges > 0) this.counts.set("landed", merges + (this.counts.get("landed") ?? 0));
    }
    const possible = new Map<string, readonly State[]>();
    const statesOf = (id: string): readonly State[] => [
      states.get(id)!,
      ...operations.filter(({ target }) => target === id).flatMap((operation) => operation.outcomes(statesOf)),
    ];
    for (const id of states.keys()) {
      const own = operations.filter(({ target }) => target === id);
      const isCertain = own.length > 0 && isDone[operations.indexOf(own[0]!)] === true;
      possible.set(id, isCertain ? own[0]!.outcomes(statesOf) : statesOf(id));
    }
    for (const [id, may] of possible) {
      const refs = actual.get(id)!;
      if ((refs !== null || !this.#isOver(id)) && !may.some((state) => isSame(state, refs)))
        this.fail(`${id} is ${tell(refs)} instead of ${may.map(tell).join(" or ")}`);
      states.set(id, refs);
    }
  }

  /** Whether a fork has deleted itself, if it was ever made. */
  #isOver(id: string): boolean {
    return (this.scene.expiries.get(id) ?? Infinity) <= this.#time.nowMs;
  }

  async #checkOne(id: string): Promise<void> {
    const { world, states } = this.scene;
    if (states.get(id) === null || this.violations.length > 0) return;
    try {
      await world.watch(() => world.checkOne(id));
    } catch (error) {
      this.fail(`${id}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  /** Lets time pass, and rings the alarms that are due. */
  async #pass(ms: number): Promise<void> {
    const { world } = this.scene;
    const time = this.#time;
    const endMs = time.nowMs + ms;
    if (ms > 0) this.#note(`${ms} ms pass`);
    for (let rings = 0; world.nextAlarmMs() <= endMs; rings++) {
      if (rings > 5_000) throw new Error("the alarms never end");
      time.skip(Math.max(0, world.nextAlarmMs() - time.nowMs));
      await world.ringNext(2 * SECOND_MS).catch((error: unknown) => this.#note(`  an alarm failed: ${String(error)}`));
    }
    time.skip(Math.max(0, endMs - time.nowMs));
  }

  #note(text: string): void {
    this.trace.push(`${String(this.#time.nowMs % 10_000_000_000).padStart(10, "0")} ${text}`);
  }
}

function isSame(a: State, b: State): boolean {
  if (a === null || b === null) return a === b;
  return a.size === b.size && [...a].every(([name, oid]) => b.get(name) === oid);
}

function tell(state: State): string {
  if (state === null) return "absent";
  return `{${[...state].map(([name, oid]) => `${name.slice(5)}=${oid.slice(0, 7)}`).join(" ")}}`;
}
