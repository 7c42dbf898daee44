/** `npm run bench:rest`: what reading by the REST API takes, by number of files and of commits. */
import { git } from "../../test/harness/git.ts";
import { type Asked, measureFirst, measureRoute } from "./cases/routes.ts";
import { COMMON_OPTIONS, HOW_TO_READ, readCount, readCounts, runCommand } from "./figures/command.ts";
import type { Work } from "./figures/sample.ts";
import { apiPathOf } from "./hosts/holdfast.ts";
import type { Host } from "./hosts/host.ts";
import { HOST_OPTIONS, HOST_SETTINGS, measureAll, type Measurement, openNamedHosts } from "./run-benchmark.ts";
import { listRoutes, type Route } from "./work/routes.ts";
import { makeLongHistory, makeNoise, type Subject } from "./work/subjects.ts";

const USAGE = `Usage: npm run bench:rest -- [OPTIONS]

Pushes repositories of several sizes and asks each reading route of the API again and again, in turns with the git command that tells
the same from a local repository, where there is one (native). Before that the server is started anew for each route, if it is this
program's: "first ms" is the answer after that. So it is for each round, as no two
processes are equally fast.

${HOW_TO_READ}
  --files LIST    files of ~8 KB in a repository of one commit (default 100,1000,5000)
  --commits LIST  commits in a repository of 40 files (default 100,1000,10000)
  --rounds N      over all routes (default 5)
  --requests N    recorded requests of each route in each round, after one to warm up (default 4)
${HOST_OPTIONS}${COMMON_OPTIONS}`;

/** A repository, and the columns that tell it from the others. */
interface Size {
  readonly files: number;
  readonly commits: number;
  readonly make: () => Promise<Subject>;
}

/** A route of one of the repositories. */
interface AskedRoute {
  readonly name: string;
  readonly route: Route;
  readonly asked: Asked;
  readonly work: Work;
}

async function pushSize({ files, commits, make }: Size, host: Host, withNative: boolean): Promise<AskedRoute[]> {
  const size = `${files} files, ${commits} commits`;
  process.stderr.write(`pushing ${size}\n`);
  const { dir } = await make();
  const url = await host.makeRepository();
  await git(dir, "push", "-q", url, "main");
  const asked = { origin: new URL(url).origin, dir: withNative ? dir : null };
  const [file = ""] = (await git(dir, "ls-tree", "-r", "--name-only", "main")).split("\n");
  return (
    listRoutes(apiPathOf(url), file)
      // One commit has nothing to be compared with.
      .filter(({ name }) => commits > 1 || name !== "compare")
      .map((route) => ({ name: `${route.name}, ${size}`, route, asked, work: { route: route.name, files, commits } }))
  );
}

/** Rounds go over all sizes and routes, so that each has met all minutes of the run; and each has a server of its own start, as no two
 * processes are equally fast. */
async function* planRounds(
  routes: readonly AskedRoute[],
  { restart }: Host,
  { rounds, requests }: { readonly rounds: number; readonly requests: number },
): AsyncGenerator<Measurement> {
  if (restart !== undefined) {
    process.stderr.write("first answers\n");
    for (const { name, route, asked, work } of routes) {
      yield [name, () => measureFirst(route, { origin: asked.origin, work, restart })];
    }
  }
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`round ${round} of ${rounds}\n`);
    await restart?.();
    for (const { name, route, asked, work } of routes) {
      yield [name, () => measureRoute(route, asked, { work, round, requests })];
    }
  }
}

await runCommand({
  usage: USAGE,
  options: {
    files: { type: "string", default: "100,1000,5000" },
    commits: { type: "string", default: "100,1000,10000" },
    rounds: { type: "string", default: "5" },
    requests: { type: "string", default: "4" },
    ...HOST_SETTINGS,
  },
  async measure(values, stack) {
    const sizes: Size[] = [
      ...readCounts("files", values.files).map((files) => ({ files, commits: 1, make: () => makeNoise(files) })),
      ...readCounts("commits", values.commits).map((commits) => ({
        files: 40,
        commits,
        make: () => makeLongHistory(commits),
      })),
    ];
    const rounds = readCount("rounds", values.rounds);
    const requests = readCount("requests", values.requests);
    const withNative = !values["no-native"];
    // Git is asked locally: no host is needed for it.
    const { holdfast: host } = await openNamedHosts({ ...values, "no-native": true }, stack);
    const routes: AskedRoute[] = [];
    for (const size of sizes) routes.push(...(await pushSize(size, host, withNative)));
    return measureAll(planRounds(routes, host, { rounds, requests }));
  },
});
