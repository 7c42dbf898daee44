import assert from "node:assert/strict";
import type { Fault } from "../../harness/faulty-chunk-store.ts";
import { Random } from "../../harness/random.ts";
import { type FaultPoints, faultsAt, type Place } from "./fault-points.ts";
import type { RefStates } from "./invariants.ts";
import type { World } from "./world.ts";

/** What scenarios happen in. */
export interface FaultWorld extends FaultPoints {
  /** Whether the process has died, so that no client received its answer. */
  readonly isDead: boolean;
  /** Begins a new process. */
  start(): void;
  save(): void;
  restore(): void;
  ring(untilMs: number): Promise<void>;
  refs(): Promise<RefStates>;
  /** Checks all that must hold at any time. */
  check(refs: RefStates): Promise<void>;
  /** Checks that nothing is left to do, nor to remove. */
  checkSettled(): Promise<void>;
}

/** A request to the repository. */
export interface Step<W extends FaultWorld = World> {
  readonly name: string;
  /** Acknowledged when the promise is fulfilled. A client without an answer asks again.
   * @throws every failure, also an answer other than the expected one */
  run(world: W): Promise<unknown>;
}

/** Steps, each of whose calls fails once. */
export interface Scenario<W extends FaultWorld = World> {
  readonly name: string;
  /** Makes the initial world; nothing fails in it. */
  begin(): Promise<W>;
  readonly steps: readonly Step<W>[];
  /** Whether a run takes long, so that fewer are made. */
  readonly isLarge?: boolean;
  /** What else must hold after all jobs have run. */
  check?(world: W): Promise<void> | void;
}

/** One call that fails in one way. */
interface Injection {
  readonly point: number;
  readonly place: Place;
  readonly fault: Fault;
}

/** The result of an enumeration. */
export interface Enumeration {
  readonly points: number;
  /** Points times the ways in which each can fail. */
  readonly injections: number;
  /** How many of them were tried and did occur. */
  readonly runs: number;
  readonly hits: number;
  /** Violated invariants, and after which injection. */
  readonly violations: string[];
}

/** Runs a scenario once, and then again with each of its calls failing in each way.
 * @param most injections to try, spread evenly; the seed selects them */
export async function enumerate<W extends FaultWorld>(
  scenario: Scenario<W>,
  most = Infinity,
  seed = 1,
): Promise<Enumeration> {
  const world = await scenario.begin();
  world.save();
  world.restore();
  const states = [await world.refs()];
  for (const step of scenario.steps) {
    await step.run(world);
    states.push(await world.refs());
  }
  const places = [...world.places];
  await settle(world, scenario, states.at(-1)!);
  const injections = places.flatMap((place, point) => faultsAt(place).map((fault) => ({ point, place, fault })));
  const chosen = sample(injections, most, new Random(seed));
  const violations: string[] = [];
  let hits = 0;
  for (const injection of chosen) {
    world.restore();
    try {
      await inject(world, scenario, injection, states);
    } catch (error) {
      const { point, place, fault } = injection;
      violations.push(`${fault} at ${place}, point ${point}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    if (world.isHit) hits += 1;
  }
  return { points: places.length, injections: injections.length, runs: chosen.length, hits, violations };
}

/** At most so many of the items: one of each stretch. */
function sample<T>(items: readonly T[], most: number, random: Random): T[] {
  const stride = Math.max(1, Math.ceil(items.length / most));
  const chosen: T[] = [];
  for (let at = 0; at < items.length; at += stride)
    chosen.push(items[Math.min(at + random.below(stride), items.length - 1)]!);
  return chosen;
}

/** The result in one line. */
export function summarize(name: string, { points, injections, runs, hits, violations }: Enumeration): string {
  return `${name}: ${points} points, ${injections} injections, ${runs} tried, ${hits} came about, ${violations.length} violations`;
}

/** Runs a scenario while a call fails. Unacknowledged requests are repeated. */
async function inject<W extends FaultWorld>(
  world: W,
  scenario: Scenario<W>,
  { point, fault }: Injection,
  states: readonly RefStates[],
): Promise<void> {
  world.arm(point, fault);
  for (const [i, step] of scenario.steps.entries()) {
    const failure = await step.run(world).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    const after = states[i + 1]!;
    if (failure === null && !world.isDead) {
      assert.deepEqual(await world.refs(), after, `${step.name}: acknowledged refs`);
      continue;
    }
    if (!world.isHit) throw failure?.error;
    if (world.isDead) world.start();
    const refs = await world.refs();
    // All or nothing.
    if (!isSame(refs, states[i]!)) assert.deepEqual(refs, after, `${step.name}: refs half moved`);
    await world.watch(() => world.check(refs));
    await step.run(world);
    assert.deepEqual(await world.refs(), after, `${step.name}: refs after the retry`);
  }
  await settle(world, scenario, states.at(-1)!);
}

/** Runs all jobs, whenever they are due, and checks what is left. */
async function settle<W extends FaultWorld>(world: W, scenario: Scenario<W>, refs: RefStates): Promise<void> {
  await world.watch(() => world.check(refs));
  // By now the fault has occurred, or it never will.
  await world.watch(() => world.ring(Infinity));
  await world.watch(async () => {
    await world.check(refs);
    await world.checkSettled();
    await scenario.check?.(world);
  });
}

function isSame(a: RefStates, b: RefStates): boolean {
  return a.size === b.size && [...a].every(([name, oid]) => b.get(name) === oid);
}
