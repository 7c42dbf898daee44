/** Many clients on many repositories for some minutes: there must be no error, no lost update, and
 * memory must not grow. */
import { QUIET_MS } from "../../src/base/format/limits.ts";
import { readUsage } from "../../test/harness/process.ts";
import { Random } from "../../test/harness/random.ts";
import { count, flag, text } from "../options.ts";
import { defineCheck, SERVER } from "../verify/check.ts";
import { showProgress } from "../verify/report.ts";
import { unexpected } from "../verify/target.ts";
import { AUTHOR, fetchCommit, readSeen, RestClient, type SeenCommits } from "./rest-client.ts";
import { checkAtEnd, LocalHistory, MAIN, StressedRepository } from "./stressed-repository.ts";

/** Small, because there are many repositories. */
const FILES = 20;

const BRANCHES = [MAIN, "refs/heads/a", "refs/heads/b", "refs/heads/c"];

/** A repository that many clients use at once. */
interface Soaked {
  readonly repository: StressedRepository;
  readonly seen: SeenCommits;
  readonly random: Random;
  /** The clone that fetches repeatedly; null while it does. */
  clone: string | null;
  clients: number;
}

const SAMPLE_MS = 5_000;

/** The operations on a repository, with their relative frequency. */
const DEEDS: readonly (readonly [weight: number, act: (soaked: Soaked) => Promise<unknown>])[] = [
  // A request to the API: a read, a commit or a move of a ref.
  [60, (soaked) => new RestClient(soaked.repository, soaked.random, soaked.seen, `api-${soaked.clients++}`).work(1)],
  [20, (soaked) => move(soaked, "push", BRANCHES, (old, main) => change(soaked, old ?? main))],
  [3, (soaked) => move(soaked, "force push", BRANCHES.slice(1), (_, main) => change(soaked, main))],
  [2, (soaked) => move(soaked, "delete branch", BRANCHES.slice(1), (old) => (old === null ? undefined : null))],
  [10, fetchAgain],
  [2, ({ repository }) => repository.clone("clone")],
  [5, merge],
  [1, maintain],
];

const CHOICES = DEEDS.flatMap(([weight, act]) => Array<typeof act>(weight).fill(act));

async function fetchAgain(soaked: Soaked): Promise<void> {
  const dir = soaked.clone;
  if (dir === null) return;
  soaked.clone = null;
  await soaked.repository.fetch("fetch", dir);
  soaked.clone = dir;
}

/** Runs the maintenance at once. */
async function maintain({ repository }: Soaked): Promise<void> {
  const { target, path } = repository;
  await repository.run("POST maintenance", () => target.demand(`${path}/maintenance`, { method: "POST" }));
}

/** Merges a commit from outside the main branch into it. */
async function merge(soaked: Soaked): Promise<void> {
  const { repository, random, seen } = soaked;
  const { target, path, refs } = repository;
  const head = await change(soaked, random.pick([...seen]));
  const ref = `refs/heads/merged-${soaked.clients++}`;
  if ((await repository.push("push new branch", { ref, old: null, next: head })) !== true) return;
  const moved = refs.begin(MAIN, undefined, undefined);
  const json = { base: "main", head, fastForward: "never", author: AUTHOR };
  await repository.run("POST merge", async () => {
    const asked = { method: "POST", json };
    const { status, body } = await target.ask<{ commit: string; parents: string[] }>(`${path}/merge`, asked);
    // Both may have changed the same file.
    if (status === 409) return refs.end(moved, "refused");
    if (status !== 201) throw unexpected("POST", `${path}/merge`, status, JSON.stringify(body));
    [moved.old, moved.next] = [body.parents[0]!, body.commit];
    return refs.end(moved, "acknowledged");
  });
}

/** Moves one of some refs.
 * @param choose the ref's new value; undefined: do nothing */
async function move(
  { repository, random }: Soaked,
  operation: string,
  of: readonly string[],
  choose: (old: string | null, main: string) => Promise<string> | null | undefined,
): Promise<void> {
  const ref = random.pick(of);
  const view = await repository.look();
  const [main, old] = [view?.get(MAIN), view?.get(ref) ?? null];
  if (main === undefined || !(await repository.check("fetch of main", () => fetchCommit(repository, main)))) return;
  const next = await choose(old, main);
  if (next !== undefined) await repository.push(operation, { ref, old, next }, { isForced: ref !== MAIN });
}

function change({ repository, random }: Soaked, parent: string): Promise<string> {
  return repository.history.change(parent, 1, random);
}

export const soak = defineCheck({
  text: `Workers push, fetch and clone by git, and read, commit, merge and move refs by the API, all at
once on many repositories. Each answer is compared with git and with what was acknowledged. At the
end every repository is cloned by git, checked by fsck, and compared with what was acknowledged.
Prints the server's memory and its slope in the second half of the time.`,
  options: {
    minutes: count("how long", 10),
    repositories: count("number of repositories", 50),
    workers: count("concurrent workers", 8),
    seed: count("of the random choices", 1),
    keep: flag("leaves the repositories on the server"),
    server: SERVER,
    pid: text("N", "that server's process id, to read its memory"),
  },
  async run(run, { minutes, repositories, workers, seed, keep, server, pid }) {
    // Objects that are unreachable for half a minute may be removed: pruning runs meanwhile.
    const vars = { LIMITS: JSON.stringify({ pruneGraceMs: 30_000, quietMs: QUIET_MS }) };
    const target = await run.openServer(server, { keep, vars });
    const serverPid = pid === undefined ? target.pid : Number(pid);
    const all: Soaked[] = [];
    for (let i = 0; i < repositories; i++) {
      showProgress(`repository ${i + 1} of ${repositories}`);
      const history = await LocalHistory.make(FILES);
      const repository = new StressedRepository(target, run.tally, history, FILES);
      await repository.push("push new", { ref: MAIN, old: null, next: history.root });
      const [seen, clone] = [await readSeen(repository), await repository.clone("clone", true)];
      if (seen !== null) all.push({ repository, seen, random: new Random(seed * 1_000 + i), clone, clients: 0 });
    }
    const random = new Random(seed);
    const [startMs, endMs] = [performance.now(), performance.now() + minutes * 60_000];
    const samples: { readonly minutes: number; readonly megabytes: number }[] = [];
    const sample = (): void => {
      const passed = (performance.now() - startMs) / 60_000;
      if (serverPid !== null) samples.push({ minutes: passed, megabytes: readUsage(serverPid).memoryBytes / 1e6 });
      showProgress(`${passed.toFixed(1)} of ${minutes} minutes: ${run.tally.operations} operations`);
    };
    const sampling = setInterval(sample, SAMPLE_MS);
    const work = async (): Promise<void> => {
      while (performance.now() < endMs) await random.pick(CHOICES)(random.pick(all));
    };
    await Promise.all(Array.from({ length: workers }, work));
    clearInterval(sampling);
    sample();
    for (const [i, { repository }] of all.entries()) {
      showProgress(`checking ${i + 1} of ${all.length}`);
      await checkAtEnd(repository);
    }
    const later = samples.slice(Math.floor(samples.length / 2));
    if (later.length < 2) return;
    console.log(`memory of the server, MB: ${samples.map(({ megabytes }) => megabytes.toFixed(0)).join(" ")}`);
    const slope = slopeOf(later.map((one) => [one.minutes, one.megabytes]));
    console.log(`slope of the second half: ${slope.toFixed(2)} MB a minute`);
  },
});

/** The slope by least squares. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (x: number, y: number) => number): number =>
    points.reduce((sum, [x, y]) => sum + of(x, y), 0) / points.length;
  const [x, y] = [mean((one) => one), mean((_, one) => one)];
  return mean((oneX, oneY) => (oneX - x) * (oneY - y)) / mean((oneX) => (oneX - x) ** 2);
}
