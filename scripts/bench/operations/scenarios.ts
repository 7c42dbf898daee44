/** The counted scenarios: the life of a repository. */
import { addBill, newBill, type Stored } from "../../../test/harness/metered/bill.ts";
import type { MeteredServer } from "../../../test/harness/metered/server.ts";
import type { Bench } from "../figures/bench.ts";
import type { Measures } from "../figures/sample.ts";
import type { Subject } from "../../../test/harness/fast-import.ts";
import { askServer, EDITED_PATH, pushedSubject, type PushedSubject } from "./subject.ts";

/** Work whose operations are counted. */
interface Counted {
  readonly scenario: string;
  /** How often the work is done, each time with what follows it. */
  readonly rounds: number;
  /** How many counted items one time covers (default 1). */
  readonly atOnce?: number;
  /** Runs before each time, uncounted. */
  readonly prepare?: (round: number) => Promise<unknown>;
  readonly run: (round: number) => Promise<unknown>;
  /** How far the server's clock moves after each time. The maintenance in that time is counted
   * separately. */
  readonly afterMs?: number;
  /** Whether to report how much storage has grown in all. That would include what `prepare`
   * stored. */
  readonly stores?: boolean;
  /** Further values. */
  readonly tell?: () => Promise<Measures>;
}

/** Where the work is done, and how its samples are labelled. */
interface Place {
  readonly server: MeteredServer;
  readonly bench: Bench;
  readonly repository: string;
  readonly files: number;
  /** The number of this run, from 1. */
  readonly round: number;
}

/** Does the work and counts. Gives the sums over all rounds: of the work itself (`part` "work"),
 * and of the maintenance after it ("after"). */
export async function count(place: Place, counted: Counted): Promise<void> {
  const { server, bench, repository, files, round } = place;
  const { scenario, rounds, atOnce = 1, prepare, run, afterMs, stores = false, tell } = counted;
  process.stderr.write(`${repository}, ${files} files: ${scenario}\n`);
  // The CPU clock counts hundredths of a second; its errors even out over the rounds.
  const parts = { work: { bill: newBill(), cpuSeconds: 0 }, after: { bill: newBill(), cpuSeconds: 0 } };
  const take = async (part: (typeof parts)["work"], work: () => Promise<unknown>): Promise<void> => {
    const before = server.readCpuSeconds();
    await work();
    addBill(part.bill, await server.takeBill());
    part.cpuSeconds += server.readCpuSeconds() - before;
  };
  const before = stores ? await server.readStored() : null;
  for (let index = 0; index < rounds; index++) {
    await prepare?.(index);
    await server.takeBill();
    await take(parts.work, () => run(index));
    if (afterMs !== undefined) await take(parts.after, () => server.advance(afterMs));
  }
  const grown = before === null ? [] : Object.entries(await server.readStored());
  const growth = grown.map(([measure, value]) => [measure, value - before![measure as keyof Stored]] as const);
  const told = { ...Object.fromEntries(growth), ...(await tell?.()) };
  const last = afterMs === undefined ? "work" : "after";
  for (const part of ["work", "after"] as const) {
    if (part === "after" && afterMs === undefined) continue;
    const { bill, cpuSeconds } = parts[part];
    const measures = { ...bill, "CPU ms": cpuSeconds * 1000, ...(part === last && told) };
    bench.note({ repository, files, scenario, part, times: rounds * atOnce }, "holdfast", round, measures);
  }
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The pause between two pushes: their immediate effects are done, and their objects have left
 * memory. */
const PAUSE_MS = 5 * MINUTE_MS;

/** Until all effects of a push are done: sweeps run twice, and replaced objects are kept for a
 * day. */
const SETTLED_MS = 3 * DAY_MS;

/** Until a stored response that nobody asked for again is gone, with its record. */
const FORGOTTEN_MS = 3 * DAY_MS;

/** Clones at once in a storm. */
const STORM = 20;

/** How many commits are cloned, fetched or read, each by itself. */
const ROUNDS = 10;

const TAGS = 1_000;

/** A repository whose life is counted. */
interface CountedSubject {
  readonly subject: Subject;
  /** Its name in the samples. */
  readonly repository: string;
  readonly files: number;
  /** Small pushes, and commits through the API. */
  readonly pushes: number;
  /** Whether to count everything, or only what differs for a long history. */
  readonly isWhole: boolean;
}

/** Counts the life of one repository on the server, from its first push to its deletion. */
export async function countLife(
  { subject, repository, files, pushes, isWhole }: CountedSubject,
  at: Omit<Place, "repository" | "files">,
): Promise<void> {
  const name = `${repository.replaceAll(" ", "-")}-${files}-${at.round}`;
  const life = {
    pushed: pushedSubject(at.server, subject, name),
    plain: pushedSubject(at.server, subject, `${name}-plain`),
    sleep: () => sleep(at.server),
    pushes,
  };
  const [clones, later] = [listClones(life), listPushes(life)];
  const scenarios = isWhole
    ? [
        ...listFirst(life),
        ...clones,
        ...listFetches(life),
        ...later,
        ...listForks(life),
        ...listReads(life),
        ...listLast(life),
      ]
    : [...listFirst(life), clones[0]!, later[0]!, ...listForks(life), ...listLast(life)];
  for (const scenario of scenarios) await count({ ...at, repository, files }, scenario);
}

/** Waits on the server's clock until objects have left memory. */
async function sleep(server: MeteredServer): Promise<void> {
  await server.advance(PAUSE_MS);
  await server.evict();
}

/** Counts the cost of many repositories of one owner, and then of a quota for all of them. */
export async function countOwner(repositories: number, at: Omit<Place, "repository" | "files">): Promise<void> {
  const { server, round } = at;
  const owner = `owner-${round}`;
  let made = 0;
  const create = (): Promise<string> => askServer(server, "POST", "/repos", { owner, name: `repository-${made++}` });
  const read = (): Promise<string> => askServer(server, "GET", `/repos/${owner}/repository-0/branches`);
  const setQuota = async (index: number): Promise<void> => {
    const quota = { maxBytes: 1e12, maxObjects: null };
    if (index === 0) await askServer(server, "PUT", `/owners/${owner}/quota`, quota);
    await sleep(server);
  };
  const scenarios: Counted[] = [
    { scenario: "create by the API", rounds: repositories, run: create, afterMs: PAUSE_MS, stores: true },
    { scenario: "read branches", rounds: ROUNDS, prepare: () => sleep(server), run: read },
    { scenario: "read branches, owner with a quota", rounds: ROUNDS, prepare: setQuota, run: read },
  ];
  for (const scenario of scenarios) await count({ ...at, repository: "owner", files: repositories }, scenario);
}

interface Life {
  readonly pushed: PushedSubject;
  /** The same, of whose branches no files are kept in R2. */
  readonly plain: PushedSubject;
  /** Waits on the server's clock until the repository's object has left memory. */
  readonly sleep: () => Promise<void>;
  readonly pushes: number;
}

function listFirst({ pushed, plain, sleep }: Life): Counted[] {
  const tell = async (): Promise<Measures> => {
    const told = JSON.parse(await pushed.ask("GET", "")) as { sizeBytes: number; objectCount: number };
    return { objects: told.objectCount, "object bytes": told.sizeBytes, commits: await pushed.countCommits() };
  };
  const makePlain = async (): Promise<void> => {
    await plain.create();
    await plain.ask("PUT", "/worktrees", { branches: [] });
    await sleep();
  };
  const first = { rounds: 1, afterMs: SETTLED_MS, stores: true };
  return [
    { scenario: "push, new repository", ...first, prepare: sleep, run: () => pushed.push("--mirror"), tell },
    { scenario: "push, new repository, no worktree", ...first, prepare: makePlain, run: () => plain.push("--mirror") },
  ];
}

function listClones({ pushed, sleep }: Life): Counted[] {
  const clone = (): Promise<void> => pushed.clone();
  const newCommit = async (): Promise<void> => {
    await pushed.edit();
    await pushed.push("main");
    await sleep();
  };
  const shallow = (): Promise<void> => pushed.clone("--depth=1");
  const storm = (): Promise<unknown> => Promise.all(Array.from({ length: STORM }, shallow));
  const bundle = async (): Promise<void> => {
    const uri = await pushed.findBundle();
    await pushed.clone(...(uri === null ? [] : [`--bundle-uri=${uri}`]));
  };
  return [
    { scenario: "clone, first", rounds: 1, prepare: sleep, run: clone },
    { scenario: "clone, second", rounds: 1, run: clone },
    { scenario: "clone, stored", rounds: ROUNDS, prepare: sleep, run: clone },
    { scenario: "clone, bundle-uri", rounds: ROUNDS, prepare: sleep, run: bundle },
    { scenario: "CI clone, new commit", rounds: 3, prepare: newCommit, run: shallow },
    {
      scenario: "CI clones, 20 at once, new commit",
      rounds: 3,
      atOnce: STORM,
      prepare: newCommit,
      run: storm,
      afterMs: FORGOTTEN_MS,
    },
    {
      scenario: "CI clones, 20 at once, stored",
      rounds: 3,
      atOnce: STORM,
      prepare: async (index) => {
        // The second clone stores the response.
        if (index === 0) await shallow().then(shallow);
        await sleep();
      },
      run: storm,
    },
  ];
}

function listFetches({ pushed, sleep }: Life): Counted[] {
  let fetch: (() => Promise<string>) | undefined;
  const run = (): Promise<string> => fetch!();
  const newCommit = async (): Promise<void> => {
    fetch ??= await pushed.keepClone();
    await pushed.edit();
    await pushed.push("main");
    await sleep();
  };
  return [
    { scenario: "fetch, one commit", rounds: ROUNDS, prepare: newCommit, run },
    { scenario: "fetch, nothing new", rounds: ROUNDS, prepare: sleep, run },
    { scenario: "fetch, nothing new, awake", rounds: ROUNDS, run },
  ];
}

function listPushes({ pushed, sleep, pushes }: Life): Counted[] {
  const edit = async (): Promise<void> => {
    await sleep();
    await pushed.edit();
  };
  const push = (): Promise<string> => pushed.push("main");
  const author = { name: "Ada Example", email: "ada@example.com" };
  const commit = (): Promise<string> => {
    const operations = [{ op: "put", path: EDITED_PATH, content: pushed.nextText() }];
    return pushed.ask("POST", "/commits", { branch: "main", message: "Edit", author, operations });
  };
  /** Sets, before the first time, of which branches files are kept in R2: null is the default. */
  const keepFiles =
    (branches: readonly string[] | null, prepare: () => Promise<void>) =>
    async (index: number): Promise<void> => {
      if (index === 0) await pushed.ask("PUT", "/worktrees", { branches });
      await prepare();
    };
  const steady = { rounds: pushes, afterMs: PAUSE_MS, stores: true };
  const fewer = { ...steady, rounds: Math.ceil(pushes / 4) };
  return [
    { scenario: "push, small", ...steady, prepare: edit, run: push },
    { scenario: "push, small, no worktree", ...fewer, prepare: keepFiles([], edit), run: push },
    {
      scenario: "push, 1,000 tags",
      rounds: 1,
      prepare: keepFiles(null, async () => {
        await sleep();
        await pushed.makeTags(TAGS);
      }),
      run: () => pushed.push("refs/tags/tag-*"),
      afterMs: SETTLED_MS,
      stores: true,
    },
    // Last, because the client does not have their commits.
    { scenario: "commit by the API, no worktree", ...fewer, prepare: keepFiles([], sleep), run: commit },
    { scenario: "commit by the API", ...steady, prepare: keepFiles(null, sleep), run: commit },
  ];
}

function listForks({ pushed, sleep }: Life): Counted[] {
  const run = (round: number): Promise<string> => pushed.fork(round);
  const remove = (): Promise<string> => pushed.deleteFork(0);
  return [
    { scenario: "fork", rounds: 3, prepare: sleep, run, afterMs: PAUSE_MS, stores: true },
    { scenario: "delete a fork", rounds: 1, prepare: sleep, run: remove, afterMs: SETTLED_MS, stores: true },
  ];
}

function listReads({ pushed, sleep }: Life): Counted[] {
  const routes = { files: "/files?ref=main&path=dir-0", raw: `/raw/main/${EDITED_PATH}`, log: "/log" };
  return Object.entries(routes).map(([name, path]) => ({
    scenario: `read ${name}`,
    rounds: ROUNDS,
    prepare: sleep,
    run: () => pushed.ask("GET", path),
  }));
}

function listLast({ pushed, sleep }: Life): Counted[] {
  const run = (): Promise<string> => pushed.ask("DELETE", "");
  return [{ scenario: "delete", rounds: 1, prepare: sleep, run, afterMs: SETTLED_MS, stores: true }];
}
