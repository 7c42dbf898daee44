/** `scripts/bench.sh`: in under two minutes, the table of the host that this one is measured against, beside native git. */
import { join } from "node:path";
import { git } from "../../test/harness/git.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { measureFirstPushes, measureFollowing } from "./cases/follow.ts";
import { measureJourneys } from "./cases/journey.ts";
import { measureRoute } from "./cases/routes.ts";
import { COMMON_OPTIONS, HOW_TO_READ, readCount, readCounts, runCommand } from "./figures/command.ts";
import type { Sample } from "./figures/sample.ts";
import { formatTable, formatValue } from "./figures/table.ts";
import { apiPathOf } from "./hosts/holdfast.ts";
import type { Hosts } from "./hosts/hosts.ts";
import { HOST_OPTIONS, HOST_SETTINGS, measureAll, type Measurement, openNamedHosts } from "./run-benchmark.ts";
import { findAuthorsMs } from "./work/authors.ts";
import { listRoutes } from "./work/routes.ts";
import { addNext, makeNoise, type Subject } from "./work/subjects.ts";

const USAGE = `Usage: scripts/bench.sh [URL] [OPTIONS]

Measures, in under two minutes, a server that is started for it, or the one at URL: a push of 100, 1,000 and 5,000 files of 8 KB of noise,
a clone, a push that changes one file, a fetch of it into the clone, and routes of the API that read; in turns with git http-backend
behind Apache, and with git commands that tell the same from a local repository.

${HOW_TO_READ}
"authors ms" is what the authors of another serverless Git host say of the same work there: on another machine, for orientation only.

The files of these repositories are not put into the bucket one by one (worktrees): a server does that behind its answers, 5,000 take
it half a minute, and what is measured next would be slower for it.

With --follow it is measured what people meet, who wait for nothing: a push, at once a push of one changed file, its fetch by a clone that
has what was pushed first, and a clone; a push, and at once 20 shallow clones by clients that drop what comes; 60 first pushes of 200 files, one after the other.
The files go to the bucket as they do by default, and the CPU of each work is what the server used until its answer, jobs included;
"all four, and what follows" is until they are done.

  --follow        as above, in place of the rest
  --files LIST    how many, in each size (default 100,1000,5000)
  --rounds N      recorded rounds over all sizes (default 4), after one of the first size to warm up
  --requests N    recorded requests of each route in each round, after one to warm up (default 2)
${HOST_OPTIONS}${COMMON_OPTIONS}`;

/** Those of the routes that the authors' host has too. */
const ROUTES = [
  "list of repositories",
  "repository",
  "branches",
  "log",
  "files",
  "all files",
  "raw file",
  "stats",
  "contributors",
];

/** What is pushed, and what it is then. */
interface Size {
  readonly files: number;
  /** As `measureJourneys` takes it. */
  readonly subject: Subject;
  /** A repository that holds what was pushed last, for git to tell of it as the server does. */
  readonly pushed: string;
  /** One of its files. */
  readonly file: string;
}

/** How often. */
interface Counts {
  readonly rounds: number;
  readonly requests: number;
}

async function makeSize(files: number): Promise<Size> {
  const subject = await makeNoise(files);
  const [file = ""] = (await git(subject.dir, "ls-tree", "-r", "--name-only", "main")).split("\n");
  await addNext(subject, file);
  const pushed = join(makeTempDir("pushed"), "pushed.git");
  await git(".", "clone", "-q", "--bare", "--single-branch", "--branch", "next", subject.dir, pushed);
  await git(pushed, "branch", "-q", "-m", "main");
  return { files, subject, pushed, file };
}

/** Rounds go over all sizes, so that each figure has met all minutes of the run. */
async function* planRounds(sizes: readonly Size[], counts: Counts, hosts: Hosts): AsyncGenerator<Measurement> {
  const { rounds, requests } = counts;
  const [first] = sizes;
  if (first !== undefined) {
    process.stderr.write(`warm-up\n`);
    const warmUp = async (): Promise<Sample[]> => {
      await measureJourneys(first.subject, { ...first, round: 0 }, hosts);
      return [];
    };
    yield ["warm-up", warmUp];
  }
  for (let round = 1; round <= rounds; round++) {
    for (const { files, subject, pushed, file } of sizes) {
      process.stderr.write(`round ${round} of ${rounds}, ${files} files: git`);
      let url: string | undefined;
      yield [
        `${files} files, round ${round}`,
        async () => {
          const journeys = await measureJourneys(subject, { files, round }, hosts);
          ({ url } = journeys);
          return journeys.samples;
        },
      ];
      if (url === undefined) continue;
      process.stderr.write(", API\n");
      const asked = { origin: new URL(url).origin, dir: hosts.native === null ? null : pushed };
      for (const route of listRoutes(apiPathOf(url), file)) {
        if (!ROUTES.includes(route.name)) continue;
        const work = { work: route.name, files };
        yield [`${route.name}, ${files} files`, () => measureInWall(route, asked, { work, round, requests })];
      }
    }
  }
}

/** How many repositories are pushed to one after the other, and the files of each: 1.6 MB. */
const FIRST_PUSHES = 60;
const FIRST_PUSH_FILES = 200;

/** The same without waiting for anything. */
async function* planFollowing(sizes: readonly Size[], { rounds }: Counts, hosts: Hosts): AsyncGenerator<Measurement> {
  const small = await makeNoise(FIRST_PUSH_FILES);
  process.stderr.write(`warm-up\n`);
  const warmUp = await makeSize(FIRST_PUSH_FILES);
  yield ["warm-up", async () => (await measureFollowing(warmUp.subject, { ...warmUp, round: 0 }, hosts)).slice(0, 0)];
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`round ${round} of ${rounds}\n`);
    for (const { files, subject } of sizes)
      yield [`${files} files, round ${round}`, () => measureFollowing(subject, { files, round }, hosts)];
    const first = { files: FIRST_PUSH_FILES, round, count: FIRST_PUSHES };
    yield [`first pushes, round ${round}`, () => measureFirstPushes(small, first, hosts)];
  }
}

/** Its measure is called as those of git are: they stand in one table. */
async function measureInWall(...asked: Parameters<typeof measureRoute>): Promise<Sample[]> {
  return (await measureRoute(...asked)).map((sample) => ({ ...sample, measure: "wall ms" }));
}

await runCommand({
  usage: USAGE,
  options: {
    files: { type: "string", default: "100,1000,5000" },
    rounds: { type: "string", default: "4" },
    requests: { type: "string", default: "2" },
    follow: { type: "boolean", default: false },
    ...HOST_SETTINGS,
  },
  format: (samples) =>
    formatTable(samples, {
      head: "authors ms",
      cell({ work, measure }) {
        if (measure !== "wall ms") return "–";
        return formatValue(findAuthorsMs(String(work["work"]), Number(work["files"])) ?? Number.NaN);
      },
    }),
  async measure(values, stack) {
    const counts = {
      rounds: readCount("rounds", values.rounds),
      requests: readCount("requests", values.requests),
    };
    const files = readCounts("files", values.files);
    const hosts = await openNamedHosts(values, stack);
    process.stderr.write(`making ${values.files} files\n`);
    const sizes = await Promise.all(files.map(makeSize));
    const outcome = await measureAll((values.follow === true ? planFollowing : planRounds)(sizes, counts, hosts));
    process.stderr.write(`took ${(performance.now() / 1000).toFixed(0)} s, the build included\n`);
    return outcome;
  },
});
