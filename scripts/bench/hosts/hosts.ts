/** The Git hosts that are measured beside each other. */
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Limits } from "../../../src/format/configured-limits.ts";
import { git } from "../../../test/harness/git.ts";
import { startNative } from "../../../test/harness/native.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Bench } from "../figures/bench.ts";
import { count, flag, type Options, text, type Values } from "../figures/command.ts";
import { startApache } from "./apache.ts";
import { openHoldfast, readUrl, startHoldfast } from "./holdfast.ts";
import type { Host } from "./host.ts";

/** Which hosts, for cases that have some. */
export const HOST_OPTIONS = {
  url: {
    ...text(
      "URL",
      "a Holdfast server that runs already (default: one is started). It gets repositories below /bench/, which are " +
        'deleted in the end. HOLDFAST_TOKEN is the token, if it asks for one: of a right to administer all that "bench" has',
    ),
    read: (_, [given = ""]) => readUrl(given),
  },
  pid: count("of that server, if it runs here: its CPU is that of the process and all that it started", undefined),
  "no-native": flag("without native git beside"),
} satisfies Options;

/** Those hosts. */
export interface Hosts {
  /** Null: Holdfast is measured alone. */
  readonly native: Host | null;
  readonly holdfast: Host;
  /** Starts another Holdfast, with lowered limits, which is closed with the others; absent where that is
   * not this program's to do. */
  readonly startBeside?: (limits: Partial<Limits>) => Promise<Host>;
}

/** Starts or takes Holdfast, and starts native git where it is wanted; the bench closes them.
 * @throws Error if the server at the URL does not answer */
export async function openHosts(values: Values<typeof HOST_OPTIONS>, { stack }: Bench): Promise<Hosts> {
  const keep = (host: Host): Host => {
    stack.defer(() => host.close());
    return host;
  };
  const startBeside = async (limits: Partial<Limits> = {}): Promise<Host> => keep(await startHoldfast(limits));
  const running = values.url === undefined ? undefined : { url: values.url, pid: values.pid ?? null };
  const holdfast = running === undefined ? await startBeside() : keep(await openHoldfast(running));
  const own = { holdfast, ...(running === undefined ? { startBeside } : {}) };
  const isHere = running === undefined || LOOPBACK.has(new URL(running.url).hostname);
  if (!values["no-native"] && !isHere) console.error("The server is on another machine: no native git is beside it.");
  return { native: values["no-native"] || !isHere ? null : keep(await startNativeHost()), ...own };
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Starts `git http-backend` behind Apache, or, where that is not installed, behind the tests' CGI server. */
async function startNativeHost(): Promise<Host> {
  const rootDir = makeTempDir("reference");
  const apache = await startApache(rootDir);
  if (apache === undefined)
    console.error("Apache is not installed (package apache2): a CGI server in Node stands in, its CPU uncounted.");
  const server = apache ?? (await startNative(rootDir));
  let count = 0;
  return {
    async makeRepository() {
      const name = `repository-${count++}.git`;
      await git(rootDir, "init", "-q", "--bare", name);
      await git(join(rootDir, name), "config", "http.receivepack", "true");
      await git(join(rootDir, name), "config", "uploadpack.allowFilter", "true");
      apache?.admit(rootDir);
      return `${server.url}/${name}`;
    },
    readCpuSeconds: () => server.readCpuSeconds(),
    async maintain(url) {
      // Not its owner: the repository may be Apache's.
      await git(join(rootDir, basename(url)), "-c", "safe.directory=*", "gc", "-q");
      apache?.admit(rootDir);
    },
    rest: async () => undefined,
    remove: (url) => rm(join(rootDir, basename(url)), { recursive: true }),
    takeEvents: () => [],
    readPeakMemoryBytes: () => null,
    close: () => server.close(),
  };
}

/** Those that there are, native git first. */
export function listHosts({ native, holdfast }: Hosts): Host[] {
  return native === null ? [holdfast] : [native, holdfast];
}

/** What each of the hosts does in a turn, by its side. */
export function onEach<Result>(
  hosts: Hosts,
  run: (host: Host) => Promise<Result>,
): Record<string, () => Promise<Result>> {
  const { native, holdfast } = hosts;
  return { ...(native === null ? {} : { native: () => run(native) }), holdfast: () => run(holdfast) };
}
