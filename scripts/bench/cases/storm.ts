/** Many clients that fetch at once. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Limits } from "../../../src/base/format/configured-limits.ts";
import { chooseGit } from "../../../test/harness/chosen-git.ts";
import { git, tryGit } from "../../../test/harness/git.ts";
import { fetchCommand, type RawCommand, sendRaw } from "../../../test/harness/raw-fetch.ts";
import { decodeLines, DELIM, encodePkt, FLUSH, request } from "../../../test/harness/raw.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { counts, parts } from "../../options.ts";
import { allOf, type Bench, BUNDLE, defineCase, rounds, type Turn } from "../figures/bench.ts";
import type { Measures, Work } from "../figures/sample.ts";
import { type Host, measureCost, pushNew, readMemory } from "../hosts/host.ts";
import { HOST_OPTIONS, type Hosts, listJobs, onEach, openHosts } from "../hosts/hosts.ts";
import { type Subject } from "../../../test/harness/fast-import.ts";
import { findTip, openSubjects } from "../work/subjects.ts";

/** What the clients of a storm do. */
interface Storm {
  /** `raw`: discards what arrives, and leaves the machine to the server. `git`: stock git. */
  readonly client: "raw" | "git";
  /** The kind of fetch. */
  readonly storm: string;
  /** Starts all clients at once. */
  ask(url: string): Promise<Shown>;
}

/** The storms by name, as `--storm` takes them. */
export const STORM_NAMES = ["depth-1", "whole", "depths", "blob-none", "git"] as const;

export const storm = defineCase({
  summary: "many clones at once, response cache off, cold and warm; bytes saved by bundle-uri",
  about: `The builds of a team after a push. Each storm has its own repository, pushed just before.

depth-1     the newest commit, by clients that discard what arrives, to leave the CPU to the server
whole       the whole history, by such clients
depths      depth 1, 2, 3, …, a different one for each client
blob-none   the whole history without files (--filter=blob:none)
git         the newest commit by stock git, on the same cores as the server: what a user sees
bundle-uri  whole clones by stock git, with and without the repository's bundle, which is one commit
            behind. A proxy counts the bytes of fetches and of bundles, which any cache may keep.
            Needs git 2.38; HOLDFAST_GIT=PATH names another git than the one on PATH

The column cache is the state of Holdfast's response cache. cold: the first storm after a push.
warm: the next one. off: the first storm after a push to a server without the cache (LIMITS:
maxStoredResponseBytes 0). Native git has no cache and is measured beside each. Misses, shared and
hits count the values of the header Holdfast-Cache.`,
  options: {
    only: parts([...STORM_NAMES, "bundle-uri"]),
    clients: counts("how many at once; a list measures several sizes", [20]),
    rounds: rounds(5),
    bundle: BUNDLE,
    ...HOST_OPTIONS,
  },
  percentiles: ["client s", "first byte s"],
  async measure({ only, clients, rounds, bundle, ...values }, bench) {
    const hosts = await openHosts(values, bench);
    const startUncached = startOnce(hosts, { maxStoredResponseBytes: 0 });
    // Makes bundles at once, even for small repositories: when they are made is not measured.
    const startBundling = startOnce(hosts, { minBundleBytes: 1, bundleDelayMs: 0 });
    if (hosts.startBeside === undefined)
      console.error("The benchmark did not start this server: its cache cannot be turned off.");
    for (const subject of await openSubjects(bundle)) {
      for (const name of only) {
        for (const count of clients) {
          const settings = { subject, clients: count, rounds };
          await bench.attempt(`${name} ${subject.name}`, async () => {
            if (name === "bundle-uri")
              return measureBundleUri(settings, (await startBundling()) ?? hosts.holdfast, bench);
            const storms = await listStorms(subject, count);
            return measureStorm(storms[name], settings, { hosts, uncached: await startUncached(), bench });
          });
        }
      }
    }
  },
});

/** Another Holdfast, started on first use; null if the server was not started here. */
function startOnce({ startBeside }: Hosts, limits: Partial<Limits>): () => Promise<Host | null> {
  let started: Promise<Host> | undefined;
  return async () => (startBeside === undefined ? null : (started ??= startBeside(limits)));
}

/** All storms with this many clients. */
export async function listStorms(
  { dir }: Subject,
  clients: number,
): Promise<Readonly<Record<(typeof STORM_NAMES)[number], Storm>>> {
  const tips = (await git(dir, "for-each-ref", "--format=%(objectname)")).split("\n");
  const wants = [...new Set(tips)];
  const tip = await findTip(dir);
  const repeat = (command: RawCommand): RawCommand[] => Array.from({ length: clients }, () => command);
  const depths = Array.from({ length: clients }, (_, index) => fetchCommand([tip], `deepen ${index + 1}`));
  return {
    "depth-1": rawStorm("depth 1", repeat(fetchCommand([tip], "deepen 1"))),
    whole: rawStorm("whole", repeat(fetchCommand(wants))),
    depths: rawStorm("depths 1 to N", depths),
    "blob-none": rawStorm("blob:none", repeat(fetchCommand(wants, "filter blob:none"))),
    git: {
      client: "git",
      storm: "depth 1",
      ask: (url) => cloneAtOnce(clients, (dir) => git(".", "clone", "-q", "--depth", "1", url, dir)),
    },
  };
}

/** Measures a storm on repositories that were pushed just before: the first time (cold), once more
 * (warm), and on others the first time without the cache (off). Native git, which has no cache,
 * does the same.
 * @param at `uncached`: Holdfast with its response cache off; null if there is none */
function measureStorm(
  storm: Storm,
  { subject, clients, rounds }: StormSettings,
  { hosts, uncached, bench }: { readonly hosts: Hosts; readonly uncached: Host | null; readonly bench: Bench },
): Promise<void> {
  const run = async (host: Host, caches: readonly string[]): Promise<(readonly [Work, Measures])[]> => {
    const url = await pushNew(subject.dir, host);
    const shown: (readonly [Work, Measures])[] = [];
    for (const cache of caches) {
      const work = { client: storm.client, clients, storm: storm.storm, cache, repository: subject.name };
      const list = await measureOnce(host, () => storm.ask(url));
      shown.push(...list.map((measures) => [work, measures] as const));
    }
    await host.remove(url);
    return shown;
  };
  const caches = ["cold", "warm"];
  const turns: Turn[] = Object.entries(
    onEach(hosts, (host) => run(host, uncached === null || host === hosts.holdfast ? caches : [...caches, "off"])),
  );
  if (uncached !== null) turns.push(["holdfast", () => run(uncached, ["off"])]);
  return bench.takeRounds([storm.client, storm.storm, `${clients} clients`, subject.name].join(", "), rounds, turns);
}

function rawStorm(storm: string, commands: readonly RawCommand[]): Storm {
  return { client: "raw", storm, ask: (url) => fetchAtOnce(url, commands) };
}

async function fetchAtOnce(url: string, commands: readonly RawCommand[]): Promise<Shown> {
  const fetched = await allOf(commands.map((command) => sendRaw(url, command)));
  const count = (state: string): number => fetched.filter(({ cache }) => cache === state).length;
  // Native git reports no cache.
  const isTold = fetched.some(({ cache }) => cache !== null);
  return {
    each: fetched.map((one) => ({ "client s": one.totalSeconds, "first byte s": one.firstByteSeconds })),
    together: {
      "bodies MB": fetched.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / 1e6,
      ...(isTold ? { misses: count("miss"), shared: count("shared"), hits: count("hit") } : {}),
    },
  };
}

/** What the clients of a storm measured. */
interface Shown {
  readonly each: readonly Measures[];
  readonly together: Measures;
}

/** Where and how a storm is measured. */
interface StormSettings {
  readonly subject: Subject;
  readonly clients: number;
  readonly rounds: number;
}

/** Measures one storm.
 * @returns the measures of all clients together, then those of each client */
async function measureOnce(host: Host, ask: () => Promise<Shown>): Promise<Measures[]> {
  host.takeEvents();
  let shown!: Shown;
  const cost = await measureCost(host, async () => {
    shown = await ask();
  });
  return [{ ...cost, ...shown.together, ...readMemory(host) }, ...shown.each];
}

/** Clones with all clients at once, each into its own folder. */
async function cloneAtOnce(clients: number, clone: (dir: string) => Promise<unknown>): Promise<Shown> {
  const dir = makeTempDir("clones");
  const start = performance.now();
  const clones = Array.from({ length: clients }, async (_, index) => {
    await clone(join(dir, String(index)));
    return { "client s": (performance.now() - start) / 1000 };
  });
  try {
    return { each: await allOf(clones), together: {} };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** The first git versions that use a bundle: on their own, and when the command line names its
 * address. */
const FIRST_TO_ASK = [2, 40] as const;
const FIRST_TO_TAKE = [2, 38] as const;

/** Longest wait for a bundle. By default a server makes it a minute after the push. */
const BUNDLE_WAIT_MS = 180_000;

/** Measures both alternately, one commit after the bundle, as builds after a push do. Also measures
 * the answer's size for a client that has nothing and for one that has the bundle.
 * @param host Holdfast */
async function measureBundleUri({ subject, clients, rounds }: StormSettings, host: Host, bench: Bench): Promise<void> {
  const { env, version, isAtLeast } = await chooseGit();
  if (!isAtLeast(...FIRST_TO_TAKE)) {
    const needed = FIRST_TO_TAKE.join(".");
    console.error(`bundle-uri is skipped: it needs git ${needed}, but this is ${version} (HOLDFAST_GIT=PATH)`);
    return;
  }
  const url = await pushNew(subject.dir, host);
  const bundle = await waitForBundle(url);
  if (bundle === null) {
    console.error(`bundle-uri is skipped: ${subject.name} has no bundle and will get none. It needs 4 MiB.`);
    return;
  }
  const haves = (await git(subject.dir, "for-each-ref", "--format=have %(objectname)")).split("\n");
  const wants = [await pushOneMore(url), ...haves.map((line) => line.slice("have ".length))];
  const asking = isAtLeast(...FIRST_TO_ASK) ? ["-c", "transfer.bundleURI=true"] : [`--bundle-uri=${url}/${bundle}`];
  const bundleMb = (await request(`${url}/${bundle}`)).body.length / 1e6;
  const turns = [{ storm: "whole" }, { storm: "whole, bundle-uri", asking, haves, bundleMb }].map((way): Turn => {
    const work = { client: "git", clients, storm: way.storm, cache: "warm", repository: subject.name };
    const clone = async (dir: string): Promise<void> => {
      const { code, stderr } = await tryGit(".", ["clone", "-q", ...(way.asking ?? []), url, dir], { env });
      // Git only warns about a faulty bundle, and clones without it.
      if (code !== 0 || stderr !== "") throw new Error(`git clone of ${url} ended with ${code}:\n${stderr}`);
    };
    const run = async () => {
      const [together, ...each] = await measureOnce(host, () => cloneAtOnce(clients, clone));
      const { sizeBytes } = await sendRaw(url, fetchCommand(wants, ...(way.haves ?? [])));
      const sizes = { "answer MB": sizeBytes / 1e6, "bundle MB": way.bundleMb ?? 0 };
      return [{ ...together, ...sizes }, ...each].map((measures) => [work, measures] as const);
    };
    return ["holdfast", run];
  });
  await bench.takeRounds(`git, whole, with bundle-uri, ${clients} clients, ${subject.name}`, rounds, turns);
  await host.remove(url);
}

/** @returns the bundle's address relative to the repository's; null if none will be made
 * @throws Error if it is not made in time */
async function waitForBundle(url: string): Promise<string | null> {
  for (const deadline = Date.now() + BUNDLE_WAIT_MS; ; await sleep(500)) {
    // The jobs are read first: the bundle exists as soon as its job has ended.
    const jobs = await listJobs(url);
    const bundle = await findBundle(url);
    if (bundle !== null) return bundle;
    if (!jobs.some(({ kind }) => kind === "bundle")) return null;
    if (Date.now() > deadline) throw new Error(`no bundle was made within ${BUNDLE_WAIT_MS / 1000} seconds`);
  }
}

/** Asks as git 2.40 and later do before they clone. @see gitprotocol-v2(5), bundle-uri
 * @returns the bundle's address relative to the repository's; null if there is none */
export async function findBundle(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string | null> {
  const { status, body } = await request(`${url}/git-upload-pack`, {
    headers: { ...headers, "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: Buffer.concat([encodePkt("command=bundle-uri"), DELIM, FLUSH]),
  });
  if (status !== 200) throw new Error(`the command bundle-uri was answered with ${status}: ${body.toString()}`);
  return /\.uri=\.\/(\S+)$/m.exec(decodeLines(body).join("\n"))?.[1] ?? null;
}

/** Pushes one more commit with one file to the default branch. */
async function pushOneMore(url: string): Promise<string> {
  const dir = join(makeTempDir("behind"), "clone");
  await git(".", "clone", "-q", "--depth", "1", url, dir);
  await git(dir, "commit", "-q", "--allow-empty", "-m", "Behind the bundle");
  await git(dir, "push", "-q", "origin", "HEAD");
  return git(dir, "rev-parse", "HEAD");
}
