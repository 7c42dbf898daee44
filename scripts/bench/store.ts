/** `scripts/bench/store`: Git as a store of files which many people edit. */
import { QUIET_MS } from "../../src/format/limits.ts";
import { measureContention } from "./cases/contention.ts";
import { measureFirstPulls } from "./cases/first-pulls.ts";
import { measureSaves, type SavePlan, type Saves } from "./cases/saves.ts";
import { COMMON_OPTIONS, HOW_TO_READ, readCount, readCounts, runCommand } from "./figures/command.ts";
import { keyOf, type Sample } from "./figures/sample.ts";
import { toPercentiles } from "./figures/summary.ts";
import type { Hosts } from "./hosts/hosts.ts";
import { HOST_OPTIONS, HOST_SETTINGS, measureAll, type Measurement, openNamedHosts } from "./run-benchmark.ts";
import type { Shape } from "./work/save-loop.ts";
import type { Spike } from "./work/spikes.ts";

const USAGE = `Usage: scripts/bench/store [OPTIONS]

Writers save one file after the other, each save a commit of its own: with git (git add, commit, pull, push, each timed) at Holdfast and
at git http-backend behind Apache, and through Holdfast's POST …/commits, in turns. Prints percentiles of each loop, the
saves that stand out, and what the server did meanwhile. In the end git looks at every repository:
whether every acknowledged save is there once, whether files are as the last saves left them, and whether all objects are sound. All of it takes a
quarter of an hour.

  modify      changes files all over the repository
  add         makes new files
  pull        first clones of repositories with many branches, each branch with a commit of its own that changes ten files
  contention  writers of one branch: of files of their own, of lines of their own in one file, of one and the same line

${HOW_TO_READ}
  --only PHASE          modify, add, pull or contention; may be repeated (default: all)
  --writers LIST        who save at the same time (default 1,5,20)
  --repositories N      which they share out among themselves (default: one for each writer)
  --branches N          of each repository; writers who share one take a branch each, as far as there are enough (default 1)
  --files LIST          files of a repository at the beginning (default 100,2000)
  --per-folder N        entries of each folder (default 50)
  --samples N           saves of each loop by git, in all rounds together, which the writers share out; by the API ten times as many;
                        half of them by either where writers meet (default 60)
  --rounds N            of each loop and each pull (default 3)
  --warm-up N           saves of each writer before those that count (default 1)
  --pull-branches LIST  of the repositories that are pulled (default 1,10,50,100,200,500)
  --contenders LIST     writers of one branch (default 5)
  --no-worktree         without the copies of the files in R2 that are brought up to date behind the saves; writing those of 20 repositories
                        of 2,000 files takes a minute or two first
  --full                20 writers: 20 repositories of 2,000 files; 100 repositories of 100 branches and 100 files; 2,000 samples, unless set
                        otherwise. Takes about an hour
${HOST_OPTIONS}${COMMON_OPTIONS}`;

const PHASES = ["modify", "add", "pull", "contention"] as const;

/** Files of the repositories that are pulled, or written by all. */
const FILES = 100;

/** How long after a save its jobs have begun: to bring its files to R2, and to tell the registry. */
const JOBS_DELAY_MS = QUIET_MS + 100;

/** How many of the saves that stand out are shown. */
const SPIKES = 5;

await runCommand({
  usage: USAGE,
  options: {
    only: { type: "string", multiple: true, default: [...PHASES] as string[] },
    writers: { type: "string", default: "1,5,20" },
    repositories: { type: "string" },
    branches: { type: "string", default: "1" },
    files: { type: "string", default: "100,2000" },
    "per-folder": { type: "string", default: "50" },
    samples: { type: "string" },
    rounds: { type: "string", default: "3" },
    "warm-up": { type: "string", default: "1" },
    "pull-branches": { type: "string", default: "1,10,50,100,200,500" },
    contenders: { type: "string", default: "5" },
    "no-worktree": { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    ...HOST_SETTINGS,
  },
  async measure(values, stack) {
    const { only, full } = values;
    const phases = PHASES.filter((name) => only.includes(name));
    const unknown = only.find((name) => !PHASES.some((known) => known === name));
    if (unknown !== undefined) throw new Error(`--only ${unknown}: not one of ${PHASES.join(", ")}`);
    const plan: Plan = {
      phases,
      shapes: full ? FULL : listShapes(values),
      pullBranches: readCounts("pull-branches", values["pull-branches"]),
      contenders: readCounts("contenders", values.contenders),
      saves: {
        perFolder: readCount("per-folder", values["per-folder"]),
        samples: readCount("samples", values.samples ?? (full ? "2000" : "60")),
        rounds: readCount("rounds", values.rounds),
        warmUp: readCount("warm-up", values["warm-up"]),
        restMs: JOBS_DELAY_MS,
        hasWorktree: !values["no-worktree"],
      },
    };
    const hosts = await openNamedHosts(values, stack);
    const spikes: Spike[] = [];
    const outcome = await measureAll(listMeasurements(plan, hosts, spikes));
    process.stdout.write(formatSpikes(spikes));
    return outcome;
  },
  condense,
});

/** What is measured. */
interface Plan {
  readonly phases: readonly (typeof PHASES)[number][];
  readonly shapes: readonly Shape[];
  readonly pullBranches: readonly number[];
  readonly contenders: readonly number[];
  readonly saves: SavePlan;
}

const FULL: readonly Shape[] = [
  { writers: 20, repositories: 20, branches: 1, files: 2000 },
  { writers: 20, repositories: 100, branches: 100, files: 100 },
];

function listShapes(values: {
  readonly writers: string;
  readonly repositories?: string;
  readonly branches: string;
  readonly files: string;
}): Shape[] {
  const repositories = values.repositories === undefined ? undefined : readCount("repositories", values.repositories);
  const branches = readCount("branches", values.branches);
  const counts = readCounts("writers", values.writers);
  return readCounts("files", values.files).flatMap((files) =>
    counts.map((writers) => ({ writers, repositories: repositories ?? writers, branches, files })),
  );
}

function* listMeasurements(
  { phases, shapes, saves, ...plan }: Plan,
  hosts: Hosts,
  spikes: Spike[],
): Generator<Measurement> {
  const keep = async (measured: Promise<Saves>): Promise<Sample[]> => {
    const { samples, spikes: found } = await measured;
    spikes.push(...found);
    return [...samples];
  };
  const loops = phases.filter((phase) => phase === "modify" || phase === "add");
  if (loops.length > 0) {
    for (const group of Map.groupBy(shapes, ({ files, branches }) => `${files} files, ${branches} branches`)) {
      yield [`${loops.join(", ")}, ${group[0]}`, () => keep(measureSaves(loops, group[1], saves, hosts))];
    }
  }
  if (phases.includes("pull")) {
    for (const branches of plan.pullBranches) {
      yield [`pull of ${branches} branches`, () => measureFirstPulls(branches, { ...saves, files: FILES }, hosts)];
    }
  }
  if (phases.includes("contention")) {
    // Git's writers try again and again.
    const fewer = { ...saves, samples: Math.ceil(saves.samples / 2) };
    for (const writers of plan.contenders) {
      yield [
        `contention of ${writers} writers`,
        () => keep(measureContention({ writers, files: FILES }, fewer, hosts)),
      ];
    }
  }
}

/** Percentiles of each loop by rounds, with the API as a side of its own beside git's; of the steps of a save, the median alone. */
function condense(samples: readonly Sample[]): Sample[] {
  const isTimed = ({ work, measure }: Sample): boolean => work["phase"] !== "pull" && measure === "ms";
  return [...Map.groupBy(samples, ({ work, side }) => keyOf({ ...work, side })).values()]
    .flatMap((group) => [...toPercentiles(group.filter(isTimed)), ...group.filter((sample) => !isTimed(sample))])
    .map(({ work: { by, step, ...work }, side, ...rest }) => ({
      ...rest,
      work: { ...work, step: by === "api" ? "total" : step! },
      side: by === "api" ? "api" : side,
    }))
    .filter(({ work, measure }) => !/^(add|commit|pull|push)$/.test(String(work.step)) || measure.startsWith("p50"));
}

function formatSpikes(spikes: readonly Spike[]): string {
  const worst = spikes.toSorted((a, b) => b.factor - a.factor).slice(0, SPIKES);
  return worst.length === 0
    ? ""
    : `Saves at Holdfast that stand out:\n${worst.map(({ text }) => `  ${text}\n`).join("")}\n`;
}
