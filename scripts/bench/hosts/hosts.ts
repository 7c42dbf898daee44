/** The Git hosts that are compared. */
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Limits } from "../../../src/format/configured-limits.ts";
import { startApache } from "../../../test/harness/apache.ts";
import { git } from "../../../test/harness/git.ts";
import { startNative } from "../../../test/harness/native.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { count, flag, type Options, text, type Values } from "../../options.ts";
import { readUrl } from "../../verify/target.ts";
import type { Bench } from "../figures/bench.ts";
import { openHoldfast, startHoldfast } from "./holdfast.ts";
import type { Host } from "./host.ts";

/** The options that choose the hosts. */
export const HOST_OPTIONS = {
  url: {
    ...text(
      "URL",
      "a running Holdfast server (default: starts one). Repositories are made below /bench/ and deleted at the end. " +
        'If it needs a token, HOLDFAST_TOKEN must hold one that may administer all that "bench" owns',
    ),
    read: (_, [given = ""]) => readUrl(given),
  },
  pid: count("that server's process id, if it runs here: CPU is read of it and of all its child processes", undefined),
  "no-native": flag("does not measure native git"),
} satisfies Options;

/** The chosen hosts. */
export interface Hosts {
  /** Null if only Holdfast is measured. */
  readonly native: Host | null;
  readonly holdfast: Host;
  /** Starts another Holdfast with lowered limits, closed with the others; absent where the server
   * was not started here. */
  readonly startBeside?: (limits: Partial<Limits>) => Promise<Host>;
}

/** Starts Holdfast or uses a running one, and starts native git if wanted. The bench closes them.
 * @throws Error if the server at the URL does not answer */
export async function openHosts(values: Values<typeof HOST_OPTIONS>, { stack }: Bench): Promise<Hosts> {
  const keep = (host: Host): Host => {
    stack.defer(() => host.close());
    return host;
  };
  const startBeside = async (limits: Partial<Limits> = {}): Promise<Host> => keep(await startHoldfast(limits));
  const { url, pid = null, "no-native": isAlone } = values;
  const holdfast = url === undefined ? await startBeside() : keep(await openHoldfast(url, pid));
  const isHere = url === undefined || LOOPBACK.has(new URL(url).hostname);
  if (!isAlone && !isHere) console.error("The server is on another machine: native git is not measured.");
  const native = isAlone || !isHere ? null : keep(await startNativeHost());
  return { native, holdfast, ...(url === undefined ? { startBeside } : {}) };
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Starts `git http-backend` behind Apache, or behind the tests' CGI server where Apache is not
 * installed. */
async function startNativeHost(): Promise<Host> {
  const rootDir = makeTempDir("reference");
  const apache = await startApache(rootDir);
  if (apache === undefined)
    console.error("Apache is not installed (package apache2): a CGI server in Node replaces it, its CPU uncounted.");
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
      // The repository may belong to Apache's user.
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

/** The hosts that exist, native git first. */
export function listHosts({ native, holdfast }: Hosts): Host[] {
  return native === null ? [holdfast] : [native, holdfast];
}

/** One turn for each host, named by its side. */
export function onEach<Result>(
  hosts: Hosts,
  run: (host: Host) => Promise<Result>,
): Record<string, () => Promise<Result>> {
  const { native, holdfast } = hosts;
  return { ...(native === null ? {} : { native: () => run(native) }), holdfast: () => run(holdfast) };
}
