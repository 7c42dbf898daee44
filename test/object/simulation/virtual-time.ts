/** A clock that the seed drives. Every wait is an event in one queue, and nothing else runs between
 * two events. */
import type { Random } from "../../harness/random.ts";

interface Event {
  readonly atMs: number;
  readonly number: number;
  run(): unknown;
}

/** When every run begins, ms since 1970. */
const START_MS = Date.UTC(2026, 0, 1);

/** The most events of a run. */
const MOST_EVENTS = 100_000;

/** Node's own, also while a run has replaced it. */
const { setImmediate: onNextTurn } = globalThis;

/** Waits for everything that the last event made possible, until the real event loop turns. */
function settled(): Promise<void> {
  return new Promise((resolve) => onNextTurn(resolve));
}

/** Runs of this process. Ids of one run differ from those of another with the same seed, so that no
 * cache of the isolate knows them. */
let runs = 0;

/** What runs on its own clock at the moment, and how to put the real one back. */
let installed: { readonly time: VirtualTime; readonly restore: () => void } | null = null;

/** Puts the process's own clock, timers and random ids back, if a run has replaced them: a run
 * whose test has timed out never gets to it. Such a run ends with an error. */
export function restoreRealTime(): void {
  installed?.restore();
  installed = null;
}

/** The time of one run. While it runs, it provides `Date.now`, timers and random ids of the whole
 * process, so only one may run at a time. Tests of runs need `afterEach(restoreRealTime)`. */
export class VirtualTime {
  /** Ascending by time, then by number. */
  readonly #events: Event[] = [];
  #elapsedMs = 0;
  /** How far the clock was set forward. */
  #skippedMs = 0;
  #numbers = 0;

  /** Milliseconds since 1970, the time on every clock of the run. */
  get nowMs(): number {
    return START_MS + this.#elapsedMs + this.#skippedMs;
  }

  /** Sets the clock forward: what has begun takes that much longer. */
  skip(ms: number): void {
    this.#skippedMs += ms;
  }

  /** Schedules an action; a promise that it returns holds up all other events.
   * @returns cancels it */
  after(delayMs: number, run: () => unknown): () => void {
    const event = { atMs: this.#elapsedMs + Math.max(0, delayMs), number: this.#numbers++, run };
    const { length } = this.#events;
    const index = this.#events.findIndex(({ atMs }) => atMs > event.atMs);
    this.#events.splice(index < 0 ? length : index, 0, event);
    return () => {
      const at = this.#events.indexOf(event);
      if (at >= 0) this.#events.splice(at, 1);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Processes one event after the other until all of `work` is done.
   * @throws Error when no event is left that could finish it, there are too many, or the real time
   *   is back */
  async run(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    done.catch(() => undefined);
    for (let count = 0; ; count++) {
      await settled();
      if (isDone) return void (await done);
      if (installed?.time !== this) throw new Error("the real time came back: its test has ended");
      if (count > MOST_EVENTS) throw new Error("there is no end");
      if (!(await this.#step())) throw new Error("everybody waits for somebody");
    }
  }

  /** Processes all remaining events. */
  async drain(): Promise<void> {
    for (let count = 0; count < MOST_EVENTS && (await this.#step()); count++) await settled();
  }

  async #step(): Promise<boolean> {
    const event = this.#events.shift();
    if (event === undefined) return false;
    this.#elapsedMs = event.atMs;
    await event.run();
    return true;
  }

  /** Replaces the process's clock, timers and random ids by these, with ids drawn from `random`.
   * @returns restores the originals, unless that has been done
   * @throws Error if another run has replaced them */
  install(random: Random): () => void {
    if (installed !== null) throw new Error("another run has replaced the clock");
    const { setTimeout, clearTimeout, setImmediate } = globalThis;
    const { now } = Date;
    const run = (runs++).toString(16).padStart(8, "0");
    const timers = new Map<object, () => void>();
    const hex = (digits: number): string =>
      Array.from({ length: digits }, () => random.below(16).toString(16)).join("");
    Date.now = () => this.nowMs;
    globalThis.setTimeout = ((callback: () => void, ms = 0) => {
      const timer = {};
      timers.set(timer, this.after(ms, callback));
      return timer;
    }) as unknown as typeof setTimeout;
    globalThis.clearTimeout = ((timer: object) => timers.get(timer)?.()) as typeof clearTimeout;
    globalThis.setImmediate = ((callback: () => void) => this.after(0, callback)) as unknown as typeof setImmediate;
    Object.defineProperty(crypto, "randomUUID", {
      configurable: true,
      value: () => `${run}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
    });
    const restore = (): void => {
      Object.assign(globalThis, { setTimeout, clearTimeout, setImmediate });
      Date.now = now;
      Reflect.deleteProperty(crypto, "randomUUID");
    };
    installed = { time: this, restore };
    return () => {
      if (installed?.time === this) restoreRealTime();
    };
  }
}
