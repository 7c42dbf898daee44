/** `scripts/bench/storm`: many clients that fetch at once, Holdfast beside native git, on the same machine in the same run. */
import type { Limits } from "../../src/format/limits.ts";
import type { Host } from "./hosts/host.ts";
import type { Hosts } from "./hosts/hosts.ts";
import { measureBundleUri } from "./cases/bundle-uri.ts";
import { listStorms, measureStorm, STORM_NAMES } from "./cases/storm.ts";
import { COMMON_OPTIONS, HOW_TO_READ } from "./figures/command.ts";
import { keyOf, type Sample } from "./figures/sample.ts";
import { toPercentiles } from "./figures/summary.ts";
import { HOST_OPTIONS, type Measurement, type Run, runBenchmark } from "./run-benchmark.ts";

const USAGE = `Usage: scripts/bench/storm [OPTIONS]

A team's builds after a push: many clients that fetch the same at the same time, from Holdfast on workerd and from git http-backend
behind Apache, in turns. Every turn has a repository of its own, pushed just before: of a history of 20 MB, a round takes a minute.

  depth-1     the newest commit alone, by clients that drop what comes and so leave the machine to the server
  whole       all of it, by such clients
  depths      depth 1, 2, 3, … by each client another
  blob-none   all of it without files (--filter=blob:none)
  git         the newest commit by stock git (git clone --depth 1), on the same cores as the server: what a user sees
  bundle-uri  whole clones by stock git without and with the repository's bundle, one commit behind it: what a fetch sends
              (fetch MB), and what is a file that any cache may keep (bundle MB), counted by a proxy between, whose work is in the
              wall time. Needs git 2.38; from 2.40 on it is clone -c transfer.bundleURI=true. HOLDFAST_GIT=PATH names
              another git than the one on PATH

The column cache says what Holdfast had: cold is the first storm after the push, warm the next one, off the first storm after
a push to a server that shares nothing among fetches (LIMITS: maxStoredResponseBytes 0). Native git, which has no such cache, is measured beside each of them.
Misses, shared and hits are what the header Holdfast-Cache said: made for that client, for several at once, or stored before.
"packs that differ" counts those that are not the same as another's who asked for the same; they are asked for once more, untimed.

Client and first byte are percentiles over the clients of each round; the CSV has every client.

${HOW_TO_READ}
  --clients N,…    how many at once (default 20); a list (1,5,20) shows how far it goes
  --bundle FILE    a bundle or repository; may be repeated (default: a made-up history)
  --rounds N       recorded rounds of each case, after one to warm up (default 5)
  --only CASE      one of the above; may be repeated (default: all)
${HOST_OPTIONS}${COMMON_OPTIONS}`;

const CASES = [...STORM_NAMES, "bundle-uri"] as const;

function* plan(run: Run<(typeof CASES)[number], never, "clients">): Generator<Measurement> {
  const { hosts, subjects, rounds, cases, lists } = run;
  const startUncached = startOnce(hosts, { maxStoredResponseBytes: 0 });
  // Bundles at once, and of small repositories, too: what is measured is not when they are made.
  const startBundling = startOnce(hosts, { minBundleBytes: 1, bundleDelayMs: 0 });
  if (hosts.startBeside === undefined) {
    console.error("The server is not this benchmark's own: it is measured as it is, and not with its cache off.");
  }
  for (const subject of subjects) {
    for (const name of cases) {
      for (const clients of lists.clients) {
        const settings = { subject, clients, rounds, hosts };
        yield [
          `${name} ${subject.name}`,
          async () =>
            name === "bundle-uri"
              ? measureBundleUri(settings, (await startBundling()) ?? hosts.holdfast)
              : measureStorm((await listStorms(subject, clients))[name], {
                  ...settings,
                  uncached: await startUncached(),
                }),
        ];
      }
    }
  }
}

/** Another Holdfast, started when it is first needed; null: it is not ours to start. */
function startOnce({ startBeside }: Hosts, limits: Partial<Limits>): () => Promise<Host | null> {
  let started: Promise<Host> | undefined;
  return async () => (startBeside === undefined ? null : (started ??= startBeside(limits)));
}

/** What each client saw, as percentiles over the clients of a round. */
function condense(samples: readonly Sample[]): Sample[] {
  const isOfClient = ({ measure }: Sample): boolean => measure === "client s" || measure === "first byte s";
  const works = Map.groupBy(samples, ({ work }) => keyOf(work));
  return [...works.values()].flatMap((list) => {
    const percentiles = toPercentiles(list.filter(isOfClient));
    return [
      ...list.filter((sample) => !isOfClient(sample)),
      ...percentiles.filter(({ measure }) => /^p[59]0 /.test(measure)),
    ];
  });
}

await runBenchmark({ usage: USAGE, cases: CASES, sizes: {}, lists: { clients: [20] }, plan, condense });
