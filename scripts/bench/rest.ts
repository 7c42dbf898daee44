/** `npm run bench:rest`: what reading by the REST API takes, by number of files and of commits. */
import { git } from "../../test/harness/git.ts";
import { measureRoute } from "./cases/routes.ts";
import { COMMON_OPTIONS, readCount, readCounts, runCommand } from "./figures/command.ts";
import { apiPathOf } from "./hosts/holdfast.ts";
import type { Host } from "./hosts/host.ts";
import { HOST_OPTIONS, HOST_SETTINGS, measureAll, type Measurement, openNamedHosts } from "./run-benchmark.ts";
import { listRoutes } from "./work/routes.ts";
import { makeLongHistory, makeNoise, type Subject } from "./work/subjects.ts";

const USAGE = `Usage: npm run bench:rest -- [OPTIONS]

Pushes repositories of several sizes and asks each reading route of the API again and again, in turns with the git command that tells
the same from a local repository, where there is one (native). Prints medians and, in brackets, the least and the greatest of the rounds.
Before each route the server is started anew, if it is this program's: "first ms" is the answer after that.

  --files LIST    files of ~8 KB in a repository of one commit (default 100,1000,5000)
  --commits LIST  commits in a repository of 40 files (default 100,1000,10000)
  --rounds N      recorded requests of each route, after one to warm up (default 20)
${HOST_OPTIONS}${COMMON_OPTIONS}`;

/** A repository, and the columns that tell it from the others. */
interface Size {
  readonly files: number;
  readonly commits: number;
  readonly make: () => Promise<Subject>;
}

async function* measureSize(
  { files, commits, make }: Size,
  { host, rounds, withNative }: { readonly host: Host; readonly rounds: number; readonly withNative: boolean },
): AsyncGenerator<Measurement> {
  const { dir } = await make();
  const url = await host.makeRepository();
  await git(dir, "push", "-q", url, "main");
  const { origin } = new URL(url);
  const [file = ""] = (await git(dir, "ls-tree", "-r", "--name-only", "main")).split("\n");
  for (const route of listRoutes(apiPathOf(url), file)) {
    // One commit has nothing to be compared with.
    if (commits === 1 && route.name === "compare") continue;
    const work = { route: route.name, files, commits };
    const asked = { origin, dir: withNative ? dir : null, rounds, restart: host.restart };
    yield [`${route.name}, ${files} files, ${commits} commits`, () => measureRoute(route, work, asked)];
  }
}

await runCommand({
  usage: USAGE,
  options: {
    files: { type: "string", default: "100,1000,5000" },
    commits: { type: "string", default: "100,1000,10000" },
    rounds: { type: "string", default: "20" },
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
    const withNative = !values["no-native"];
    // Git is asked locally: no host is needed for it.
    const { holdfast: host } = await openNamedHosts({ ...values, "no-native": true }, stack);
    return measureAll(
      (async function* plan() {
        for (const size of sizes) yield* measureSize(size, { host, rounds, withNative });
      })(),
    );
  },
});
