/** `node_modules/.bin/node scripts/soak.ts`: many clients on many repositories for a while: no error, no lost update, and memory that stays. */
import { readCommandLine } from "./command-line.ts";
import { QUIET_MS } from "../src/format/limits.ts";
import setUp from "../test/harness/build.ts";
import { readUsage } from "../test/harness/process.ts";
import { Random } from "../test/harness/random.ts";
import { startServer } from "../test/harness/server.ts";
import { quantile } from "./bench/figures/summary.ts";
import { SoakedRepository } from "./soak/soaked-repository.ts";
import { formatRows } from "./verify/report.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/soak.ts [OPTIONS]

Workers push (raw requests, and git itself), fetch and clone, read files and lists through the API, and commit and merge there, all at once on
many repositories, and hold each answer against a model of what was acknowledged. In the end every repository is cloned by git,
checked by fsck, and compared with the model. Prints how often what was done and how long it took, errors, lost updates, and the server's
memory with its slope in the second half of the time. Ends with 1 if there was an error, or an update is lost.

  --minutes N       how long (default 10)
  --repositories N  on how many (default 50)
  --workers N       how many at once (default 8)
  --seed N          of what they do (default 1)
  --server URL      of a server with ACCESS=open; it gets repositories below /soak/, anew each time only if there are none (default: one is started)
  --pid N           of that server, to have its memory read
  --help            this text
`;

const { values } = readCommandLine({
  options: {
    minutes: { type: "string", default: "10" },
    repositories: { type: "string", default: "50" },
    workers: { type: "string", default: "8" },
    seed: { type: "string", default: "1" },
    server: { type: "string" },
    pid: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** What workers do, by how often. */
const OPERATIONS = {
  push: 30,
  gitPush: 3,
  fetch: 25,
  gitClone: 2,
  read: 22,
  commit: 12,
  merge: 5,
  maintain: 1,
} as const satisfies Partial<Record<keyof SoakedRepository, number>>;

type Operation = keyof typeof OPERATIONS;

const SAMPLE_MS = 5_000;

/** Resident memory at one time. */
interface Sample {
  readonly seconds: number;
  readonly bytes: number;
}

class Soak {
  readonly #random = new Random(Number(values.seed));
  readonly #times = new Map<Operation, number[]>();
  readonly #errors: string[] = [];
  readonly #repositories: SoakedRepository[];
  readonly #samples: Sample[] = [];
  readonly #readMemory: () => number | null;
  readonly #startMs = performance.now();

  constructor(server: { readonly url: string }, readMemory: () => number | null) {
    this.#readMemory = readMemory;
    // Names of their own, so that a server may be soaked again.
    const run = Date.now().toString(36);
    this.#repositories = Array.from(
      { length: Number(values.repositories) },
      (_, i) => new SoakedRepository(server, `${run}-${i}`, new Random(Number(values.seed) * 1_000 + i)),
    );
  }

  /** @returns whether all is well */
  async run(): Promise<boolean> {
    for (const repository of this.#repositories) await repository.begin();
    const endMs = performance.now() + Number(values.minutes) * 60_000;
    this.#sample();
    const sampling = setInterval(() => this.#sample(), SAMPLE_MS);
    await Promise.all(Array.from({ length: Number(values.workers) }, () => this.#work(endMs)));
    clearInterval(sampling);
    this.#sample();
    const lost = await this.#check();
    this.#report(lost);
    return this.#errors.length === 0 && lost.length === 0;
  }

  async #work(endMs: number): Promise<void> {
    while (performance.now() < endMs) {
      const repository = this.#random.pick(this.#repositories);
      const operation = this.#choose();
      const startMs = performance.now();
      try {
        await repository[operation]();
      } catch (error) {
        this.#errors.push(`${operation}: ${String(error)}`);
        console.error(this.#errors.at(-1));
      }
      this.#timesOf(operation).push(performance.now() - startMs);
    }
  }

  #choose(): Operation {
    let left = this.#random.below(Object.values(OPERATIONS).reduce<number>((sum, weight) => sum + weight, 0));
    return Object.entries(OPERATIONS).find(([, weight]) => (left -= weight) < 0)![0] as Operation;
  }

  #timesOf(operation: Operation): number[] {
    let times = this.#times.get(operation);
    if (times === undefined) this.#times.set(operation, (times = []));
    return times;
  }

  #sample(): void {
    const bytes = this.#readMemory();
    const seconds = (performance.now() - this.#startMs) / 1_000;
    if (bytes !== null) this.#samples.push({ seconds, bytes });
    const count = this.#times.values().reduce((sum, { length }) => sum + length, 0);
    const memory = bytes === null ? "" : `, ${toMegabytes(bytes)} MB`;
    console.error(`${seconds.toFixed(0)} s: ${count} operations, ${this.#errors.length} errors${memory}`);
  }

  /** @returns what is wrong with each repository that is not as it must be */
  async #check(): Promise<string[]> {
    const wrong: string[] = [];
    for (const [i, repository] of this.#repositories.entries()) {
      const reason = await repository.check();
      if (reason !== null) wrong.push(`repository ${i}: ${reason}`);
      if (i % 10 === 9) console.error(`checked ${i + 1} of ${this.#repositories.length}`);
    }
    return wrong;
  }

  #report(lost: readonly string[]): void {
    const rows = [...this.#times].map(([operation, times]) => {
      return [operation, `${times.length}`, ...[0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(1))];
    });
    console.log(formatRows([["operation", "times", "p50 ms", "p99 ms", "max ms"], ...rows], [1, 2, 3, 4]));
    const series = this.#samples.map(({ seconds, bytes }) => `${seconds.toFixed(0)}:${toMegabytes(bytes)}`);
    console.log(`memory of the server, s:MB  ${series.join(" ")}`);
    const later = this.#samples.slice(Math.floor(this.#samples.length / 2));
    if (later.length > 1) console.log(`slope of the second half ${slope(later).toFixed(2)} MB a minute`);
    const commits = this.#repositories.reduce((sum, repository) => sum + repository.commits, 0);
    console.log(`${this.#repositories.length} repositories, ${commits} commits made or asked for`);
    for (const reason of lost) console.log(reason);
    console.log(`errors ${this.#errors.length}, repositories that are not as acknowledged ${lost.length}`);
  }
}

function toMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

/** MB a minute, by least squares. */
function slope(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [x, y] = [mean(({ seconds }) => seconds), mean(({ bytes }) => bytes)];
  const covariance = mean(({ seconds, bytes }) => (seconds - x) * (bytes - y));
  return ((covariance / mean(({ seconds }) => (seconds - x) ** 2)) * 60) / 1e6;
}

async function main(): Promise<void> {
  const cleanUp = await setUp();
  // What is unreachable for half a minute may go: pruning is asked for meanwhile.
  const limits = JSON.stringify({ pruneGraceMs: 30_000, quietMs: QUIET_MS });
  const started = values.server === undefined ? await startServer({ vars: { LIMITS: limits } }) : null;
  try {
    const pid = started?.pid ?? (values.pid === undefined ? null : Number(values.pid));
    const readMemory = (): number | null => (pid === null ? null : readUsage(pid).memoryBytes);
    const isWell = await new Soak({ url: (started?.url ?? values.server)! }, readMemory).run();
    process.exitCode = isWell ? 0 : 1;
  } finally {
    await started?.close();
    await cleanUp();
  }
}

if (values.help) process.stdout.write(USAGE);
else await main();
