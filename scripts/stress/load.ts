/** Sizes and races at their limits: repositories of many files, with concurrent clients on each,
 * phase by phase. */
import { Random } from "../../test/harness/random.ts";
import { writeSamples } from "../bench/figures/sample.ts";
import { count, counts, flag, parts, text } from "../options.ts";
import { type Check, defineCheck, SERVER } from "../verify/check.ts";
import { showProgress, type Tally } from "../verify/report.ts";
import type { Target } from "../verify/target.ts";
import { PHASES, type Scale } from "./phases.ts";
import { checkAtEnd, LocalHistory, MAIN, StressedRepository } from "./stressed-repository.ts";

type Phase = keyof typeof PHASES;

const ALL_PHASES = Object.keys(PHASES) as Phase[];

const TEXT = `Pushes repositories with files of 8 KB, and runs concurrent clients on each, phase by
phase:

  transfers  a push, a clone, pushes of 1, 10 and 100 changed files, fetches
  races      pushes to separate branches, which must all win, and to one, where one must win
  rest       files, log, compare, archive, commits, branches, tags by the API, beside pushes, clones
  rewinds    forced pushes and deletions, beside clones and fetches
  cuts       shallow and partial clones at once, compared with those from git's own server

Every clone is checked by git fsck, and its refs must be what was acknowledged at one moment while
it was made. At the end each repository is compared with what was acknowledged, by git and by the
API, and the server checks itself. Failed requests are not repeated. Two refusals are no errors,
because git's own server gives them, too: of a push to a branch that has moved meanwhile, and of a
clone ("not our ref") when its branch was forced elsewhere or deleted meanwhile.

Prints the times of every operation, a line for every error, and a line that begins with "wrong"
for every wrong answer.`;

/** A check of one scale.
 * @param transferred default numbers of files of the repositories that only run transfers */
function defineLoad(
  sizes: readonly number[],
  transferred: readonly number[],
  { clients, rounds, requests }: Scale,
): Check {
  return defineCheck({
    text: TEXT,
    options: {
      sizes: counts("numbers of files", sizes),
      clients: count("clients that push or use the API at once", clients),
      rounds: count("rounds of each race", rounds),
      requests: count("requests of the API by each client", requests),
      phase: parts(ALL_PHASES),
      seed: count("of the random choices", 1),
      csv: text("FILE", "writes the time of every operation to this file"),
      keep: flag("leaves the repositories on the server"),
      server: SERVER,
    },
    async run(run, { phase: phases, keep, server, csv, ...options }) {
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

/** Under two minutes. */
export const quick = defineLoad([100, 1000], [5000], { clients: 4, rounds: 1, requests: 15 });

/** Seven minutes. */
export const full = defineLoad([100, 1000, 5000, 10_000], [], { clients: 8, rounds: 2, requests: 25 });

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
      // Each phase has its own seed: its random choices do not depend on earlier phases.
      const random = new Random(seed * 1_000 + ALL_PHASES.indexOf(phase));
      await repository.check(phase, () => PHASES[phase](repository, random, stress));
      repository.explainLooks();
    }
    showProgress(`${files} files: check`);
    await checkAtEnd(repository);
  }
  history.remove();
  if (!keep) await repository.run("DELETE repository", () => target.remove(repository.path));
}
