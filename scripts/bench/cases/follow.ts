/** What people do, one step right after the other, without waiting for the server's work after its
 * answers. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { fetchCommand, sendRaw } from "../../../test/harness/raw-fetch.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { count, counts } from "../../options.ts";
import { allOf, defineCase } from "../figures/bench.ts";
import type { Measures } from "../figures/sample.ts";
import type { Host } from "../hosts/host.ts";
import { HOST_OPTIONS, openHosts } from "../hosts/hosts.ts";
import type { Subject } from "../work/subjects.ts";
import { checkFetched, makeSize, noteWorks, type Size, type Works } from "./quick.ts";

/** Clients of the storm. */
const CLONES = 20;

/** How many repositories get a first push in a row, and the files of each (1.6 MB). */
const FIRST_PUSHES = 60;
const FIRST_PUSH_FILES = 200;

export const follow = defineCase({
  summary: "steps without a pause: pushes, a fetch, a clone, a storm, first pushes",
  about: `Without pauses: a push, a push of one changed file, its fetch by a clone that has the first push, a
clone; a push and ${CLONES} shallow clones by clients that discard what arrives; ${FIRST_PUSHES} first
pushes of ${FIRST_PUSH_FILES} files. Files are written to the bucket, as by default. The CPU of each
step is what the server used until its answer, including jobs. "all four, and what follows" runs
until all jobs are done.`,
  options: {
    files: counts("files of each size", [100, 1000, 5000]),
    rounds: count("recorded rounds over all sizes, after one warm-up", 4),
    ...HOST_OPTIONS,
  },
  async measure({ files, rounds, ...values }, bench) {
    const hosts = await openHosts(values, bench);
    const small = await makeSize(FIRST_PUSH_FILES);
    const sizes = await Promise.all(files.map(makeSize));
    const takeAll = ({ subject }: Size) => {
      return async (host: Host): Promise<Works> => [
        ...(await doAfterEachOther(subject, host)),
        ...(await pushAndStorm(subject, host)),
      ];
    };
    await bench.attempt("warm-up", () => noteWorks(small, 0, hosts, bench, takeAll(small)));
    for (let round = 1; round <= rounds; round++) {
      const name = `round ${round} of ${rounds}`;
      process.stderr.write(`${name}\n`);
      for (const size of sizes)
        await bench.attempt(`${size.files} files, ${name}`, () => noteWorks(size, round, hosts, bench, takeAll(size)));
      const pushAll = (host: Host): Promise<Works> => pushFirst(small.subject, host);
      await bench.attempt(`first pushes, ${name}`, () => noteWorks(small, round, hosts, bench, pushAll));
    }
  },
});

async function pushFirst({ dir }: Subject, host: Host): Promise<Works> {
  const urls = await Array.fromAsync({ length: FIRST_PUSHES }, () => host.makeRepository());
  const pushes = await measure(host, async () => {
    for (const url of urls) await git(dir, "push", "-q", url, "main");
  });
  await allOf(urls.map((url) => host.rest(url)));
  return [[`${FIRST_PUSHES} first pushes`, pushes]];
}

async function doAfterEachOther({ dir }: Subject, host: Host): Promise<Works> {
  const url = await host.makeRepository();
  const folder = makeTempDir("follow");
  const [behind, clone] = [join(folder, "behind"), join(folder, "clone")];
  await git(".", "clone", "-q", "--single-branch", "--branch", "main", dir, behind);
  await git(behind, "remote", "set-url", "origin", url);
  const before = host.readCpuSeconds();
  const works: Works = [
    ["push", await measure(host, () => git(dir, "push", "-q", url, "main"))],
    ["incremental push", await measure(host, () => git(dir, "push", "-q", url, "next:main"))],
    ["fetch", await measure(host, () => git(behind, "fetch", "-q"))],
    ["clone", await measure(host, () => git(".", "clone", "-q", url, clone))],
  ];
  await host.rest(url);
  works.push(["all four, and what follows", { "server CPU ms": (host.readCpuSeconds() - before) * 1000 }]);
  for (const one of [behind, clone]) await checkFetched(dir, one, url);
  rmSync(folder, { recursive: true });
  return works;
}

async function pushAndStorm({ dir }: Subject, host: Host): Promise<Works> {
  const url = await host.makeRepository();
  await git(dir, "push", "-q", url, "main");
  const command = fetchCommand([await git(dir, "rev-parse", "main")], "deepen 1");
  const storm = await measure(host, () => allOf(Array.from({ length: CLONES }, () => sendRaw(url, command))));
  await host.rest(url);
  return [[`${CLONES} shallow clones`, storm]];
}

/** Measures a piece of work alone, without the host's work after its answer. */
async function measure(host: Host, work: () => Promise<unknown>): Promise<Measures> {
  const before = host.readCpuSeconds();
  const start = performance.now();
  await work();
  return { "wall ms": performance.now() - start, "server CPU ms": (host.readCpuSeconds() - before) * 1000 };
}
