/** Sizes and races at their limits: repositories of many files, and clients at work on each all
 * at once, phase by phase. */
import { Random } from "../../test/harness/random.ts";
import { writeSamples } from "../bench/figures/sample.ts";
import { UsageError } from "../command-line.ts";
import { type Check, count, counts, defineCheck, flag, SERVER, text, texts } from "../verify/check.ts";
import { showProgress, type Tally } from "../verify/report.ts";
import type { Target } from "../verify/target.ts";
import { checkAtEnd } from "./final-check.ts";
import { LocalHistory } from "./local-history.ts";
import { PHASES, type Scale } from "./phases.ts";
import { MAIN, StressedRepository } from "./stressed-repository.ts";

type Phase = keyof typeof PHASES;

const ALL_PHASES = Object.keys(PHASES) as Phase[];

const TEXT = `Pushes repositories of files of 8 KB, and has clients at work on each all at once,
phase by phase:

  transfers  a push, a clone, pushes of 1, 10 and 100 changed files, fetches
  races      pushes to branches of their own, which must all win, and to one, where one must win
  rest       files, log, compare, archive, commits, branches, tags by the API, beside pushes, clones
  rewinds    forced pushes and deletions, beside clones and fetches
  cuts       shallow and partial clones at once, compared with those from git's own server

Every clone is checked by git fsck, and its refs must be what was acknowledged at one moment while
it was made. At the end of each repository what is there is compared with what was acknowledged,
by git and by the API, and the server checks itself. Nothing is asked again when it fails. No
errors are the answers that git's own server gives to who comes too late: a push to a branch that
moved meanwhile is refused, and so is a clone ("not our ref") when a branch that it was about to
get is forced elsewhere or deleted.

Prints times of every operation, a line for every error, and a line that begins with "wrong" for
every answer that is not so.`;

/** A check at one scale.
 * @param transferred files of the repositories that only go through transfers, unless other
 * sizes are asked for */
export function defineLoad(
  sizes: readonly number[],
  transferred: readonly number[],
  { clients, rounds, requests }: Scale,
): Check {
  return defineCheck({
    text: TEXT,
    options: {
      sizes: counts(sizes, "numbers of files"),
      clients: count(clients, "how many push at once, or use the API at once"),
      rounds: count(rounds, "rounds of each race"),
      requests: count(requests, "requests of the API by each client"),
      phase: texts("NAME", "this phase alone"),
      seed: count(1, "of what is chosen"),
      csv: text("FILE", "writes the time of every operation there"),
      keep: flag("leaves the repositories on the server"),
      server: SERVER,
    },
    async run(run, { phase, keep, server, csv, ...options }) {
      const unknown = phase.find((name) => !ALL_PHASES.some((one) => one === name));
      if (unknown !== undefined) throw new UsageError(`--phase ${unknown}: not one of ${ALL_PHASES.join(", ")}`);
      const phases = ALL_PHASES.filter((one) => phase.length === 0 || phase.includes(one));
      const target = await run.openServer(server, { keep });
      const stress = (files: number, some: readonly Phase[]): Promise<void> =>
        stressOne({ target, tally: run.tally, keep, ...options }, files, some);
      for (const files of options.sizes) await stress(files, phases);
      const small = phases.filter((one) => one === "transfers");
      if (options.sizes === sizes) for (const files of transferred) await stress(files, small);
      if (csv !== undefined) writeSamples(csv, run.tally.toSamples());
    },
  });
}

interface Stress extends Scale {
  readonly target: Target;
  readonly tally: Tally;
  readonly seed: number;
  readonly keep: boolean;
}

async function stressOne(stress: Stress, files: number, phases: readonly Phase[]): Promise<void> {
  const { target, tally, seed, keep } = stress;
  showProgress(`${files} files: making them`);
  const history = await LocalHistory.make(files);
  const repository = new StressedRepository(target, tally, history, files);
  if ((await repository.push("push new", { ref: MAIN, old: null, next: history.root })) === true) {
    for (const phase of phases) {
      showProgress(`${files} files: ${phase}`);
      // Each has a beginning of its own: what is chosen in one depends on the seed alone, not on
      // those before.
      const random = new Random(seed * 1_000 + ALL_PHASES.indexOf(phase));
      await repository.check(phase, () => PHASES[phase](repository, random, stress));
      repository.settle();
    }
    showProgress(`${files} files: check`);
    await checkAtEnd(repository);
  }
  history.remove();
  if (!keep) await repository.run("DELETE repository", () => target.remove(repository.path));
}
