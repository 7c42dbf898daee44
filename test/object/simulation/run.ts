/** One run on one repository: clients, maintenance, faults and crashes of one seed. Then all
 * clients stop, time passes, and what is left is checked. */
import { createHash } from "node:crypto";
import { DEFAULT_LIMITS, type Limits } from "../../../src/base/format/configured-limits.ts";
import { MAINTENANCE_KINDS } from "../../../src/contract/upkeep.ts";
import { readRepository } from "../../../src/object/store/sql/schema.ts";
import { Random } from "../../harness/random.ts";
import { ANYONE } from "../../harness/requester.ts";
import { Author } from "./author.ts";
import { adopt, type Run } from "./client.ts";
import { Fetcher } from "./fetcher.ts";
import { History } from "./history.ts";
import { Inspection } from "./inspection.ts";
import { Pusher } from "./pusher.ts";
import { RefModel } from "./ref-model.ts";
import { World } from "./world.ts";

const HOUR_MS = 60 * 60_000;

/** After this time all due jobs are done: pruning and sweeping take a day and some hours each. */
const SETTLE_MS = 5 * 24 * HOUR_MS;

/** The most alarms until then. */
const MOST_RINGS = 300;

/** Refs that all clients push to; some of them exclude each other. */
const SHARED = ["refs/heads/main", "refs/heads/shared", "refs/heads/df", "refs/heads/df/below", "refs/tags/moving"];

/** The result of a run. */
export interface RunResult {
  readonly seed: number;
  /** A digest of all events, in their order: the same for the same seed. */
  readonly digest: string;
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  /** How often each event happened. */
  readonly counts: ReadonlyMap<string, number>;
  /** A final clone of all refs, and the refs; null: there is no repository. */
  readonly clone: { readonly pack: Buffer; readonly refs: ReadonlyMap<string, string> } | null;
}

/** Makes one run. Only one may run at a time: it replaces the process's clock.
 * @param length how much the clients do; 1 takes a tenth of a second */
export async function simulate(seed: number, length: number): Promise<RunResult> {
  const random = new Random(seed * 2_654_435_761);
  // Settings for the whole run.
  const temper = { failing: random.pick([0, 0, 0.01, 0.04, 0.15]), slow: random.pick([0, 0.02, 0.1]) };
  const limits: Partial<Limits> = {
    pruneGraceMs: random.pick([0, 2_000, 60_000, HOUR_MS]),
    minBundleBytes: random.pick([200_000, DEFAULT_LIMITS.minBundleBytes]),
    bundleDelayMs: 1_000,
    quietMs: random.pick([0, 0, 500, DEFAULT_LIMITS.quietMs]),
  };
  const worktrees = random.below(3) === 0 ? "default-branch" : "none";
  const world = new World(random, temper, limits, worktrees);
  const violations: string[] = [];
  const counts = new Map<string, number>();
  let numbers = 0;
  const run: Run = {
    seed,
    world,
    history: new History(),
    model: new RefModel(),
    random,
    forbidden: new Set(),
    isNetworkGood: false,
    isDeleting: false,
    asked: new Map(),
    nextNumber: () => ++numbers,
    fail: (reason) => {
      world.note(`VIOLATION ${reason}`);
      violations.push(reason);
    },
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
  };
  const restore = world.time.install(random);
  let clone: RunResult["clone"] = null;
  try {
    await world.time.run(
      (async () => {
        await act(run, length);
        clone = await settle(run);
      })(),
    );
  } catch (error) {
    run.fail(`it ended: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    await world.close();
    restore();
  }
  for (const [what, count] of [
    ["life", world.lives],
    ["R2 call", world.bucket.calls],
    ["R2 fault", world.bucket.faults],
  ] as const) {
    counts.set(what, count);
  }
  const digest = createHash("sha1").update(world.trace.join("\n")).digest("hex");
  return { seed, digest, violations, trace: world.trace, counts, clone };
}

/** All clients work until they are done. */
async function act(run: Run, length: number): Promise<void> {
  const { random } = run;
  const rounds = (): number => length * (1 + random.below(3));
  const clients: Promise<void>[] = [];
  for (let i = 0; i < Math.min(3, 1 + length); i++) {
    const pusher = new Pusher(`pusher${i}`, run);
    const own = [`refs/heads/own${i}/a`, `refs/heads/own${i}/b`, `refs/heads/own${i}/c`];
    pusher.refs = i === 0 ? [...own, "refs/heads/main"] : [...own, ...SHARED];
    clients.push(pusher.work(2 * rounds()));
  }
  for (let i = 0; i < Math.min(2, length); i++) {
    const author = new Author(`author${i}`, run);
    author.branches = ["main", "main", "shared", `own${i}/a`];
    clients.push(author.work(rounds()));
    clients.push(new Fetcher(`fetcher${i}`, run).work(rounds()));
  }
  let isOver = false;
  const everybody = Promise.all(clients).finally(() => (isOver = true));
  const troubles = [keepHouse(run, () => isOver), crash(run, random.pick([0, length, 2 * length]), () => isOver)];
  if (random.below(5) === 0) troubles.push(deleteSoon(run, () => isOver));
  await Promise.all([everybody, ...troubles]);
}

/** Maintenance at any time, outages of the bucket, and clocks that are set forward. */
async function keepHouse(run: Run, isOver: () => boolean): Promise<void> {
  const { random, world } = run;
  while (!isOver()) {
    await world.time.sleep(random.below(8_000));
    const choice = random.below(10);
    if (choice < 6) {
      const kinds = MAINTENANCE_KINDS.filter(() => random.below(2) === 0);
      await world.request(
        (repository) => repository.call("maintain", kinds, ANYONE),
        () => undefined,
      );
      run.count("maintain");
    } else if (choice < 8) {
      await world.skip(random.pick([HOUR_MS / 4, HOUR_MS, 3 * HOUR_MS]));
    } else if (world.bucket.temper.failing > 0) {
      world.bucket.isOut = true;
      await world.time.sleep(random.below(4_000));
      world.bucket.isOut = false;
    }
  }
}

/** Ends the process so many times: between two steps, or at a statement of its database. */
async function crash(run: Run, crashes: number, isOver: () => boolean): Promise<void> {
  const { random, world, count } = run;
  for (let i = 0; i < crashes && !isOver(); i++) {
    await world.time.sleep(random.below(15_000));
    world.crash(random.below(2) === 0 ? null : random.below(120));
    count("crash");
    // Half of the time at once, half of the time in the next process.
    await world.time.sleep(random.below(2) === 0 ? 0 : 2_000);
    await inspect(run);
  }
}

/** Deletes the repository as soon as there is one. */
async function deleteSoon(run: Run, isOver: () => boolean): Promise<void> {
  const { random, world, model } = run;
  await world.time.sleep(10_000 + random.below(20_000));
  run.isDeleting = true;
  let isDeleted = false;
  while (!isDeleted && !isOver()) {
    const deed = { kind: "delete" as const, isKnown: false };
    const act = model.begin("deleter", deed);
    const answer = await world.request(
      (repository) => repository.delete(),
      ({ kind }) => {
        model.end(act);
        deed.isKnown = kind === "done";
      },
    );
    world.note(`deleter: ${answer.kind}`);
    isDeleted = (answer.kind === "done" && answer.value) || isGone(world);
    await world.time.sleep(1_000);
  }
  run.isDeleting = isDeleted;
  if (isDeleted) run.count("deletion");
}

/** Whether there was a repository, and never will be again. */
function isGone({ sql, isAdmitted }: World): boolean {
  return !isAdmitted || readRepository(sql)?.deleted === true;
}

/** Checks everything that is stored, between two events. */
async function inspect(run: Run): Promise<void> {
  const { world, model, fail } = run;
  const looked = Promise.withResolvers<void>();
  world.time.after(0, async () => {
    const inspection = new Inspection(world.sql, world.bucket.objects);
    const act = model.begin("inspector", { kind: "look", state: inspection.refs() });
    model.end(act);
    await adopt(run, inspection.refs()?.refs.values() ?? []);
    await inspection.clone(run.history, fail);
    inspection.check(fail);
    looked.resolve();
  });
  await looked.promise;
}

/** Ends all faults, lets every client push once more, and lets time pass. Then exactly what was
 * acknowledged must exist. */
async function settle(run: Run): Promise<RunResult["clone"]> {
  const { world, model, history, fail, forbidden } = run;
  world.note("everybody is done");
  world.bucket.temper = { failing: 0, slow: 0 };
  run.isNetworkGood = true;
  world.crash(null);
  await inspect(run);
  if (!run.isDeleting) {
    const isThrough = await new Pusher("last", run).pushAfter("refs/heads/main");
    if (!isThrough) fail("nothing can be pushed any more");
  }
  const endMs = world.time.nowMs + SETTLE_MS;
  for (let rings = 0; !world.isQuietUntil(endMs); rings++) {
    if (rings > MOST_RINGS) return (fail("the alarm goes on ringing"), null);
    if (world.alarmMs < Infinity && world.alarmMs > world.time.nowMs)
      await world.skip(world.alarmMs - world.time.nowMs);
    await world.time.sleep(5_000);
  }
  await inspect(run);
  explainChanges(run);
  const unexplained = model.explain();
  if (unexplained !== null) fail(unexplained);
  const inspection = new Inspection(world.sql, world.bucket.objects);
  const refs = inspection.refs();
  await inspection.checkKeys(world.id, fail);
  const stored = inspection.storedOids();
  const expected = history.closure(refs?.refs.values() ?? []);
  for (const oid of stored) if (!expected.has(oid)) fail(`${oid} is still there, and nothing leads to it`);
  for (const oid of expected) if (!stored.has(oid)) fail(`${oid} is gone`);
  for (const oid of forbidden) if (stored.has(oid)) fail(`${oid} came with a refused push`);
  for (const job of inspection.waitingJobs()) {
    if (!["trim", "expire", "bundle", "tally", "filter"].includes(job)) fail(`a job ${job} is left`);
  }
  if (run.isDeleting && world.sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table'").toArray().length > 0) {
    fail("the deleted repository's database is left");
  }
  const pack = await inspection.clone(history, fail);
  return pack === null ? null : { pack, refs: refs!.refs };
}

/** Commits that were requested without an answer, and that turned up: what their makers did. */
function explainChanges({ model, history, asked }: Run): void {
  const found = new Map(history.commits().map((oid) => [history.message(oid), oid]));
  for (const { deed } of model.acts) {
    if (deed.kind !== "change" || deed.isKnown) continue;
    const oid = asked.has(deed.nonce) ? found.get(deed.nonce) : undefined;
    if (oid !== undefined) deed.moves = [{ name: deed.ref, old: history.links(oid)[1] ?? null, next: oid }];
  }
}
