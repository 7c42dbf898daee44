/** `scripts/bench.sh`: in under two minutes, the table of the host that this one is measured against, beside native git. */
import { git } from "../../test/harness/git.ts";
import { measureJourneys, type Rounds } from "./cases/journey.ts";
import { measureRoute } from "./cases/routes.ts";
import { COMMON_OPTIONS, readCount, readCounts, runCommand } from "./figures/command.ts";
import type { Sample } from "./figures/sample.ts";
import { formatTable, formatValue } from "./figures/table.ts";
import { apiPathOf } from "./hosts/holdfast.ts";
import type { Hosts } from "./hosts/hosts.ts";
import { HOST_OPTIONS, HOST_SETTINGS, measureAll, type Measurement, openNamedHosts } from "./run-benchmark.ts";
import { findAuthorsMs } from "./work/authors.ts";
import { listRoutes } from "./work/routes.ts";
import { addNext, makeNoise } from "./work/subjects.ts";

const USAGE = `Usage: scripts/bench.sh [URL] [OPTIONS]

Measures, in under two minutes, a server that is started for it, or the one at URL: a push of 100, 1,000 and 5,000 files of 8 KB of noise,
a clone, a push that changes one file, a fetch of it into the clone, and routes of the API that read; in turns with git http-backend
behind Apache, and with git commands that tell the same from a local repository. Prints medians and, in brackets, the least and the
greatest of the rounds. Ratio is Holdfast's over native's: below 1, Holdfast is the faster one. CPU is the server's alone.

"authors ms" is what the authors of another serverless Git host say of the same work there: on another machine, for orientation only.

The files of these repositories are not put into the bucket one by one (worktrees): a server does that behind its answers, 5,000 take
it half a minute, and what is measured next would be slower for it.

  --files LIST    how many, in each size (default 100,1000,5000)
  --rounds LIST   recorded rounds of each size (default 4,3,2); the first size has one more before, to warm up
  --changes N     pushes of a changed file in each round, and fetches of it (default 3)
  --requests N    recorded requests of each route, after one to warm up (default 10)
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

async function* measureSize(
  size: Rounds,
  { hosts, requests }: { readonly hosts: Hosts; readonly requests: number },
): AsyncGenerator<Measurement> {
  const { files } = size;
  process.stderr.write(`${files} files: making them\n`);
  const subject = await makeNoise(files);
  const { dir } = subject;
  const [file = ""] = (await git(dir, "ls-tree", "-r", "--name-only", "main")).split("\n");
  await addNext(subject, file, size.changes);
  let url: string | undefined;
  yield [
    `${files} files`,
    async () => {
      const journeys = await measureJourneys(subject, size, hosts);
      ({ url } = journeys);
      return journeys.samples;
    },
  ];
  if (url === undefined) return;
  // Now git tells of what was pushed last, as the server does.
  await git(dir, "update-ref", "refs/heads/main", `refs/heads/next-${size.changes}`);
  for (let change = 1; change <= size.changes; change++)
    await git(dir, "update-ref", "-d", `refs/heads/next-${change}`);
  const { origin } = new URL(url);
  const asked = { origin, dir: hosts.native === null ? null : dir, rounds: requests };
  for (const route of listRoutes(apiPathOf(url), file)) {
    if (!ROUTES.includes(route.name)) continue;
    const measure = async (): Promise<Sample[]> => {
      const samples = await measureRoute(route, { work: route.name, files }, asked);
      return samples.map((sample) => ({ ...sample, measure: "wall ms" }));
    };
    yield [`${route.name}, ${files} files`, measure];
  }
}

/** @throws Error unless there are rounds for each size */
function readSizes(filesList: string, roundsList: string, changes: number): Rounds[] {
  const rounds = readCounts("rounds", roundsList);
  const sizes = readCounts("files", filesList);
  if (rounds.length < sizes.length) throw new Error(`--rounds ${roundsList}: ${sizes.length} sizes need as many`);
  return sizes.map((files, index) => ({ files, rounds: rounds[index]!, changes, warmUp: index === 0 }));
}

await runCommand({
  usage: USAGE,
  options: {
    files: { type: "string", default: "100,1000,5000" },
    rounds: { type: "string", default: "4,3,2" },
    changes: { type: "string", default: "3" },
    requests: { type: "string", default: "10" },
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
    const sizes = readSizes(values.files, values.rounds, readCount("changes", values.changes));
    const requests = readCount("requests", values.requests);
    const hosts = await openNamedHosts(values, stack);
    const outcome = await measureAll(
      (async function* plan() {
        for (const size of sizes) yield* measureSize(size, { hosts, requests });
      })(),
    );
    process.stderr.write(`took ${(performance.now() / 1000).toFixed(0)} s, the build included\n`);
    return outcome;
  },
});
