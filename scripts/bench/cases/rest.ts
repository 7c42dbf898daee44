/** Times of the REST API's reading routes, by number of files and of commits. */
import { git } from "../../../test/harness/git.ts";
import { count, counts } from "../../options.ts";
import { defineCase } from "../figures/bench.ts";
import { apiPathOf } from "../hosts/holdfast.ts";
import type { Host } from "../hosts/host.ts";
import { HOST_OPTIONS, openHosts } from "../hosts/hosts.ts";
import { type Asked, listRoutes, measureRoute, type Route, timeRequest } from "../work/routes.ts";
import { makeLongHistory, makeNoise, type Subject } from "../work/subjects.ts";

/** Files in the repository with many commits. */
const FILES = 40;

export const rest = defineCase({
  summary: "every reading route of the API, beside the git command that gives the same",
  about: `Git reads a local repository; its start is included. "first ms" is the first answer after a start of
the server. The benchmark restarts its own server for each route and each round, because no two
processes are equally fast.`,
  options: {
    files: counts("files of 8 KB in a repository of one commit", [100, 1000, 5000]),
    commits: counts(`commits in a repository of ${FILES} files`, [100, 1000, 10_000]),
    rounds: count("over all routes", 5),
    requests: count("recorded requests of each route in each round, after one warm-up", 4),
    ...HOST_OPTIONS,
  },
  async measure({ files, commits, rounds, requests, ...values }, bench) {
    // Git reads local repositories here: it needs no host.
    const { holdfast: host } = await openHosts({ ...values, "no-native": true }, bench);
    const routes: AskedRoute[] = [];
    for (const size of files) routes.push(...(await push(await makeNoise(size), [size, 1], host)));
    for (const size of commits) routes.push(...(await push(await makeLongHistory(size), [FILES, size], host)));
    const { restart } = host;
    for (const { route, asked, work } of restart === undefined ? [] : routes) {
      await bench.attempt(Object.values(work).join(), async () => {
        await restart!();
        bench.note(work, "holdfast", 1, { "first ms": await timeRequest(`${asked.origin}/api${route.path}`) });
      });
    }
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`round ${round} of ${rounds}\n`);
      await restart?.();
      for (const { route, asked, work } of routes) {
        const side = values["no-native"] ? { ...asked, dir: null } : asked;
        await bench.attempt(route.name, () => measureRoute(route, side, { work, round, requests, bench }));
      }
    }
  },
});

/** A route of one repository. */
interface AskedRoute {
  readonly route: Route;
  readonly asked: Asked;
  readonly work: { readonly route: string; readonly files: number; readonly commits: number };
}

async function push(subject: Subject, size: readonly [number, number], host: Host): Promise<AskedRoute[]> {
  const { name, dir } = subject;
  const [files, commits] = size;
  process.stderr.write(`pushing ${name}\n`);
  const url = await host.makeRepository();
  await git(dir, "push", "-q", url, "main");
  const [file = ""] = (await git(dir, "ls-tree", "-r", "--name-only", "main")).split("\n");
  const asked = { origin: new URL(url).origin, dir };
  return (
    listRoutes(apiPathOf(url), file)
      // With one commit there is nothing to compare.
      .filter((route) => commits > 1 || route.name !== "compare")
      .map((route) => ({ route, asked, work: { route: route.name, files, commits } }))
  );
}
