/** `scripts/stress.sh`: sizes and races at the limit, and every answer held against git and against what was acknowledged. */
import { readCommandLine } from "./command-line.ts";
import { Random } from "../test/harness/random.ts";
import { startServer } from "../test/harness/server.ts";
import { makeTempDir } from "../test/harness/temp-dir.ts";
import { readCount, readCounts } from "./bench/figures/command.ts";
import { writeSamples } from "./bench/figures/sample.ts";
import { reachServer, readUrl } from "./bench/hosts/holdfast.ts";
import { cloneCut } from "./stress/cut-clones.ts";
import { checkAtEnd } from "./stress/final-check.ts";
import { LocalHistory } from "./stress/local-history.ts";
import { race } from "./stress/races.ts";
import { mixRest } from "./stress/rest-beside-git.ts";
import { rewind } from "./stress/rewinds.ts";
import { type Scale, SCALES } from "./stress/scale.ts";
import { StressedRepository } from "./stress/stressed-repository.ts";
import { Tally } from "./stress/tally.ts";
import { Target } from "./stress/target.ts";
import { pushNew, transfer } from "./stress/transfers.ts";

const USAGE = `Usage: [SERVER=URL] scripts/stress.sh [quick|full] [OPTIONS]

Pushes repositories of many files of 8 KB, and has clients at work on each all at once, phase by phase:

  transfers  a push, a clone, pushes of 1, 10 and 100 changed files, fetches
  races      pushes to branches of their own, which must all win, and to one branch, where one must win; clones beside
  rest       files, raw, log, compare, archive, commits, branches and tags by the API, beside pushes and clones
  rewinds    forced pushes and deletions, beside clones and fetches
  cuts       shallow and partial clones at once, compared with those from git's own server

Every clone is checked by git fsck, and its refs must be what was acknowledged at one moment while it was made. At the end of each
repository what is there is compared with what was acknowledged, by git and by the API, and the server checks itself. Nothing is asked
again when it fails. No errors are the answers that git's own server gives to who comes too late: a push to a branch that moved
meanwhile is refused, and so is a clone ("not our ref") when a branch that it was about to get is forced elsewhere or deleted.

Prints times of every operation, a line for every error, and a line that begins with "wrong" for every answer that is not so.

  quick            100 and 1,000 files through all phases, 5,000 through transfers: under two minutes (default)
  full             100, 1,000, 5,000 and 10,000 files through all phases, more clients: seven minutes
  --sizes N,N      other numbers of files
  --clients N      how many push at once, or use the API at once
  --rounds N       rounds of each race
  --requests N     requests of the API by each client
  --phase NAME     this phase alone; may be repeated
  --seed N         of what is chosen (default 1)
  --csv FILE       writes the time of every operation there
  --keep           leaves the repositories on the server
  --help           this text

SERVER is a Holdfast server that runs already; it gets repositories below /stress/, which are deleted at the end. Without it one is
started. HOLDFAST_TOKEN is the token, where one is asked for: of a right to administer all that the owner "stress" has.

Exit status: 0 when nothing failed and nothing was wrong, 1 when something was, 2 when it could not be found out.
`;

const PHASES = {
  transfers: (repository, random) => transfer(repository, random),
  races: race,
  rest: mixRest,
  rewinds: rewind,
  cuts: cloneCut,
} as const satisfies Record<string, (repository: StressedRepository, random: Random, scale: Scale) => Promise<void>>;

type Phase = keyof typeof PHASES;

const ALL_PHASES = Object.keys(PHASES) as Phase[];

interface Options {
  readonly scale: Scale;
  readonly phases: readonly Phase[];
  readonly seed: number;
  readonly csv: string | undefined;
  readonly keep: boolean;
  /** Undefined: one is started. */
  readonly server: string | undefined;
}

/** @throws Error if an option is unknown or makes no sense */
function readOptions(): Options | "help" {
  const { values, positionals } = readCommandLine({
    allowPositionals: true,
    options: {
      sizes: { type: "string" },
      clients: { type: "string" },
      rounds: { type: "string" },
      requests: { type: "string" },
      phase: { type: "string", multiple: true },
      seed: { type: "string", default: "1" },
      csv: { type: "string" },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const [name = "quick", ...others] = positionals;
  if (!isOneOf(name, ["quick", "full"] as const) || others.length > 0) {
    throw new Error(`${positionals.join(" ")}: say quick or full`);
  }
  const scale: Scale = SCALES[name];
  const phases = values.phase ?? ALL_PHASES;
  const unknown = phases.find((phase) => !isOneOf(phase, ALL_PHASES));
  if (unknown !== undefined) throw new Error(`--phase ${unknown}: not one of ${ALL_PHASES.join(", ")}`);
  const count = (option: "clients" | "rounds" | "requests"): number =>
    values[option] === undefined ? scale[option] : readCount(option, values[option]);
  const sizes = values.sizes === undefined ? {} : { sizes: readCounts("sizes", values.sizes), transferredSizes: [] };
  const server = process.env["SERVER"];
  return {
    scale: { ...scale, ...sizes, clients: count("clients"), rounds: count("rounds"), requests: count("requests") },
    phases: ALL_PHASES.filter((phase) => phases.includes(phase)),
    seed: readCount("seed", values.seed),
    csv: values.csv,
    keep: values.keep,
    server: server === undefined || server === "" ? undefined : readUrl(server),
  };
}

function isOneOf<Choice extends string>(text: string, choices: readonly Choice[]): text is Choice {
  return (choices as readonly string[]).includes(text);
}

/** One run against one server. */
class Stress {
  readonly tally = new Tally();
  readonly #target: Target;
  readonly #options: Options;
  /** Those that are at the server. */
  readonly #repositories: StressedRepository[] = [];
  readonly #startMs = performance.now();

  constructor(target: Target, options: Options) {
    this.#target = target;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { scale, phases } = this.#options;
    for (const files of scale.sizes) await this.#stress(files, phases);
    for (const files of scale.transferredSizes) {
      await this.#stress(
        files,
        phases.filter((phase) => phase === "transfers"),
      );
    }
  }

  async #stress(files: number, phases: readonly Phase[]): Promise<void> {
    const { seed, scale } = this.#options;
    this.#show(files, "making the files");
    const history = await LocalHistory.make(files);
    // Names of this run, so that a server may be stressed again, and by several at once.
    const name = `${Date.now().toString(36)}-${process.pid}-${files}`;
    const repository = new StressedRepository(this.#target, this.tally, history, name, files);
    this.#repositories.push(repository);
    this.#show(files, "push");
    if (await pushNew(repository)) {
      for (const phase of phases) {
        this.#show(files, phase);
        // Each has a beginning of its own: what is chosen in one depends on the seed alone, not on those before.
        const random = new Random(seed * 1_000 + ALL_PHASES.indexOf(phase));
        await repository.check(phase, () => PHASES[phase](repository, random, scale));
        repository.settle();
      }
      this.#show(files, "check");
      await checkAtEnd(repository);
    }
    history.remove();
    if (!this.#options.keep) await this.#delete();
  }

  async #delete(): Promise<void> {
    for (const repository of this.#repositories.splice(0)) {
      await repository.run("DELETE repository", () => deleteRepository(this.#target, repository.path));
    }
  }

  /** Deletes what is there still. @param target that goes on when all else has been ended */
  async cleanUp(target: Target): Promise<void> {
    if (this.#options.keep) return;
    for (const { path } of this.#repositories.splice(0)) {
      await deleteRepository(target, path).catch((error: Error) => console.error(`${path} stays: ${error.message}`));
    }
  }

  #show(files: number, what: string): void {
    const seconds = ((performance.now() - this.#startMs) / 1_000).toFixed(0);
    process.stderr.write(`${seconds} s: ${files} files: ${what}\n`);
  }
}

/** @throws UnexpectedAnswer unless it is gone, or was never there */
async function deleteRepository(target: Target, path: string): Promise<void> {
  await target.demand(path, { method: "DELETE" }, [204, 404]);
}

/** @returns the exit status */
async function main(): Promise<number> {
  const options = readOptions();
  if (options === "help") {
    process.stdout.write(USAGE);
    return 0;
  }
  // Holds every other temporary folder, and goes at the exit.
  process.env["HOLDFAST_TEST_DIR"] ??= makeTempDir("stress");
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interruption.abort());
  const { server, csv } = options;
  if (server === undefined) process.stderr.write("building and starting a server\n");
  const started = server === undefined ? await startServer() : null;
  const url = started?.url ?? server!;
  const target = new Target(url, interruption.signal);
  try {
    await reachServer(url, "stress");
    const stress = new Stress(target, options);
    try {
      await stress.run();
    } finally {
      // What was started here goes with all that it has.
      if (started === null) await stress.cleanUp(new Target(url));
    }
    process.stdout.write(stress.tally.format());
    if (csv !== undefined) writeSamples(csv, stress.tally.toSamples());
    return stress.tally.isWell ? 0 : 1;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    return 130;
  } finally {
    await started?.close();
  }
}

try {
  process.exit(await main());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}
