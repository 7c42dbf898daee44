/** Many clients on many repositories for some minutes: there must be no error, no lost update, and
 * memory must not grow. */
import { QUIET_MS } from "../../src/format/limits.ts";
import { readUsage } from "../../test/harness/process.ts";
import { Random } from "../../test/harness/random.ts";
import { count, flag, text } from "../options.ts";
import { defineCheck, SERVER } from "../verify/check.ts";
import { showProgress } from "../verify/report.ts";
import { unexpected } from "../verify/target.ts";
import { LocalHistory } from "./local-history.ts";
import { fetchCommit, RestClient, SeenCommits } from "./rest-client.ts";
import { checkAtEnd, MAIN, StressedRepository } from "./stressed-repository.ts";

/** Small, because there are many repositories. */
const FILES = 20;

const BRANCHES = [MAIN, "refs/heads/a", "refs/heads/b", "refs/heads/c"];

/** The operations on a repository, with their relative frequency. */
const DEEDS = { ask: 60, push: 20, force: 3, remove: 2, fetch: 10, clone: 2, merge: 5, maintain: 1 } as const;

const CHOICES = Object.entries(DEEDS).flatMap(([deed, weight]) =>
  Array<keyof typeof DEEDS>(weight).fill(deed as "ask"),
);

const SAMPLE_MS = 5_000;

/** A repository that many clients use at once. */
class SoakedRepository {
  readonly #repository: StressedRepository;
  readonly #seen: SeenCommits;
  readonly #random: Random;
  #clients = 0;
  /** The clone that fetches repeatedly; null while it does. */
  #clone: string | null;

  constructor(repository: StressedRepository, seen: SeenCommits, random: Random, clone: string | null) {
    this.#repository = repository;
    this.#seen = seen;
    this.#random = random;
    this.#clone = clone;
  }

  /** Sends a request to the API: a read, a commit or a move of a ref. */
  ask(): Promise<void> {
    return new RestClient(this.#repository, this.#random, this.#seen, `api-${this.#clients++}`).work(1);
  }

  async push(): Promise<void> {
    await this.#move("push", this.#random.pick(BRANCHES), (old, main) => this.#change(old ?? main));
  }

  async force(): Promise<void> {
    await this.#move("force push", this.#random.pick(BRANCHES.slice(1)), (_, main) => this.#change(main));
  }

  async remove(): Promise<void> {
    await this.#move("delete branch", this.#random.pick(BRANCHES.slice(1)), async (old) =>
      old === null ? undefined : null,
    );
  }

  /** Fetches into the one clone. */
  async fetch(): Promise<void> {
    const dir = this.#clone;
    if (dir === null) return;
    this.#clone = null;
    await this.#repository.fetch("fetch", dir);
    this.#clone = dir;
  }

  async clone(): Promise<void> {
    await this.#repository.clone("clone");
  }

  /** Merges a commit from outside the main branch into it. */
  async merge(): Promise<void> {
    const { target, path, refs } = this.#repository;
    const head = await this.#change(this.#seen.pick(this.#random));
    const ref = `refs/heads/merged-${this.#clients++}`;
    if ((await this.#repository.push("push new branch", { ref, old: null, next: head })) !== true) return;
    const move = refs.begin(MAIN, undefined, undefined);
    const author = { name: "Ada Example", email: "ada@example.com" };
    const json = { base: "main", head, fastForward: "never", author };
    await this.#repository.run("POST merge", async () => {
      const { status, body } = await target.ask<{ commit: string; parents: string[] }>(`${path}/merge`, {
        method: "POST",
        json,
      });
      // Both may have changed the same file.
      if (status === 409) return refs.end(move, "refused");
      if (status !== 201) throw unexpected("POST", `${path}/merge`, status, JSON.stringify(body));
      [move.old, move.next] = [body.parents[0]!, body.commit];
      return refs.end(move, "acknowledged");
    });
  }

  /** Runs the maintenance at once. */
  async maintain(): Promise<void> {
    const { target, path } = this.#repository;
    await this.#repository.run("POST maintenance", () => target.demand(`${path}/maintenance`, { method: "POST" }));
  }

  /** Compares the repository with what was acknowledged. */
  check(): Promise<void> {
    return checkAtEnd(this.#repository);
  }

  /** @param choose the ref's new value; undefined: do nothing */
  async #move(
    operation: string,
    ref: string,
    choose: (old: string | null, main: string) => Promise<string | null | undefined>,
  ): Promise<void> {
    const view = await this.#repository.look();
    const [main, old] = [view?.get(MAIN), view?.get(ref) ?? null];
    if (
      main === undefined ||
      !(await this.#repository.check("fetch of main", () => fetchCommit(this.#repository, main)))
    )
      return;
    const next = await choose(old, main);
    if (next !== undefined) await this.#repository.push(operation, { ref, old, next }, { isForced: ref !== MAIN });
  }

  #change(parent: string): Promise<string> {
    return this.#repository.history.change(parent, 1, this.#random);
  }
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
    const soaked: SoakedRepository[] = [];
    for (let i = 0; i < repositories; i++) {
      showProgress(`repository ${i + 1} of ${repositories}`);
      const history = await LocalHistory.make(FILES);
      const repository = new StressedRepository(target, run.tally, history, FILES);
      await repository.push("push new", { ref: MAIN, old: null, next: history.root });
      const [seen, clone] = [await SeenCommits.of(repository), await repository.clone("clone", true)];
      if (seen !== null) soaked.push(new SoakedRepository(repository, seen, new Random(seed * 1_000 + i), clone));
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
      while (performance.now() < endMs) await random.pick(soaked)[random.pick(CHOICES)]();
    };
    await Promise.all(Array.from({ length: workers }, work));
    clearInterval(sampling);
    sample();
    for (const [i, repository] of soaked.entries()) {
      showProgress(`checking ${i + 1} of ${soaked.length}`);
      await repository.check();
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
