/** Many clients that fetch at once. */
import type { Limits } from "../../../src/format/configured-limits.ts";
import { git } from "../../../test/harness/git.ts";
import type { Bench, Turn } from "../figures/bench.ts";
import { BUNDLE, defineCase, rounds } from "../figures/command.ts";
import { counts, parts } from "../../options.ts";
import type { Measures, Work } from "../figures/sample.ts";
import { type Host, pushNew } from "../hosts/host.ts";
import { HOST_OPTIONS, type Hosts, onEach, openHosts } from "../hosts/hosts.ts";
import { allOf } from "../work/all-of.ts";
import { fetchCommand, type RawCommand, sendRaw } from "../work/raw-fetch.ts";
import { findTip, openSubjects, type Subject } from "../work/subjects.ts";
import { cloneAtOnce, measureOnce, type Shown, type StormSettings } from "./at-once.ts";
import { measureBundleUri } from "./bundle-uri.ts";

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
