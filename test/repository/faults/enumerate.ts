import assert from "node:assert/strict";
import type { Fault } from "../../harness/faulty-chunk-store.ts";
import { hasJobs } from "../../../src/store/sql/schema.ts";
import { Random } from "../../harness/random.ts";
import { checkNothingLeft, checkRepository, type RefStates } from "./invariants.ts";
import { faultsAt, type Place, type World } from "./world.ts";

/** A request to the repository. */
export interface Step {
  readonly name: string;
  /** Acknowledged when the promise is fulfilled. A client without an answer asks again.
   * @throws every failure, also an answer other than the expected one */
  run(world: World): Promise<unknown>;
}

/** Steps, each of whose calls fails once. */
export interface Scenario {
  readonly name: string;
  /** Makes the initial world; nothing fails in it. */
  begin(): Promise<World>;
  readonly steps: readonly Step[];
  /** Whether a run takes long, so that fewer are made. */
  readonly isLarge?: boolean;
  /** What else must hold after all jobs have run. */
  check?(world: World): Promise<void> | void;
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
export async function enumerate(scenario: Scenario, most = Infinity, seed = 1): Promise<Enumeration> {
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
async function inject(
  world: World,
  scenario: Scenario,
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
    await world.watch(() => checkRepository(world.repository, world.store, refs));
    await step.run(world);
    assert.deepEqual(await world.refs(), after, `${step.name}: refs after the retry`);
  }
  await settle(world, scenario, states.at(-1)!);
}

/** Runs all jobs, whenever they are due, and checks what is left. */
async function settle(world: World, scenario: Scenario, refs: RefStates): Promise<void> {
  const look = (): Promise<void> => checkRepository(world.repository, world.store, refs);
  await world.watch(look);
  // By now the fault has occurred, or it never will.
  await world.watch(() => world.ring(Infinity));
  await world.watch(async () => {
    const { sql, repository } = world.repository;
    assert.equal(hasJobs(sql) ? repository.state.jobs.nextDueMs() : null, null, "a job without an alarm");
    await look();
    await checkNothingLeft(world.repository, world.store);
    await scenario.check?.(world);
  });
}

function isSame(a: RefStates, b: RefStates): boolean {
  return a.size === b.size && [...a].every(([name, oid]) => b.get(name) === oid);
}
