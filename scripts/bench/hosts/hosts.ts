/** The Git hosts that are compared: Holdfast, started here or already running, and native git. */
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Limits } from "../../../src/base/format/configured-limits.ts";
import { QUIET_MS } from "../../../src/base/format/limits.ts";
import { startApache } from "../../../test/harness/apache.ts";
import { askApi } from "../../../test/harness/api.ts";
import { git } from "../../../test/harness/git.ts";
import { startNative } from "../../../test/harness/native.ts";
import { readTreeCpuSeconds, readUsage } from "../../../test/harness/process.ts";
import { request } from "../../../test/harness/raw.ts";
import { startServer } from "../../../test/harness/server.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { count, flag, type Options, text, type Values } from "../../options.ts";
import { reachServer, readUrl, Target } from "../../verify/target.ts";
import type { Bench } from "../figures/bench.ts";
import type { Host } from "./host.ts";

/** Jobs due within this time follow directly from the work, and are waited for. A bundle, due after
 * a minute, is not. */
const SOON_MS = 10_000;

/** Longest wait for those jobs. */
const JOBS_WAIT_MS = 60_000;

/** Starts Holdfast as deployed, on the real runtime.
 * @param limits lowered limits; the others keep their defaults */
export async function startHoldfast(limits: Partial<Limits> = {}): Promise<Host> {
  const server = await startServer({
    vars: { MAX_BODY_BYTES: "", LIMITS: JSON.stringify({ quietMs: QUIET_MS, ...limits }) },
  });
  const target = new Target(server.url, "bench", server.pid);
  return {
    ...hostAt(target),
    remove: (url) => target.remove(apiPathOf(url)),
    readCpuSeconds: () => server.readUsage().cpuSeconds,
    takeEvents: () => server.takeEvents(),
    readPeakMemoryBytes: () => server.readUsage().peakMemoryBytes,
    restart: () => server.restart(),
    close: () => server.close(),
  };
}

/** Uses a server that is already running. Closing deletes the repositories made there and leaves
 * the server running.
 * @param url without a trailing slash
 * @param pid its process, if it runs on this machine and its CPU must be read
 * @throws Error if it does not answer, or needs another token */
async function openHoldfast(url: string, pid: number | null): Promise<Host> {
  await reachServer(url, "bench");
  const { status } = await request(`${url}/healthz`);
  if (status !== 200) throw new Error(`${url} is not a healthy Holdfast server: /healthz answered ${status}`);
  const target = new Target(url, "bench", pid);
  return {
    ...hostAt(target),
    // What could not be deleted is reported at the end.
    remove: (repository) => target.remove(apiPathOf(repository)).catch(() => undefined),
    readCpuSeconds: () => (pid === null ? Number.NaN : readTreeCpuSeconds(pid)),
    takeEvents: () => [],
    readPeakMemoryBytes: () => (pid === null ? null : readUsage(pid).peakMemoryBytes),
    close: () => target.removeAll(),
  };
}

function hostAt(target: Target): Pick<Host, "makeRepository" | "maintain" | "rest"> {
  return {
    makeRepository: async () => target.newRepository().url,
    maintain: async (url) => void (await target.demand(`${apiPathOf(url)}/maintenance`, { method: "POST" })),
    rest: waitForJobs,
  };
}

/** The API's path of the repository at a URL, below `/api`. */
export function apiPathOf(url: string): string {
  return `/repos${new URL(url).pathname.replace(/\.git$/, "")}`;
}

/** Calls the API for the repository at a URL.
 * @param path below `/api`
 * @throws Error if the server refuses */
export async function askHoldfast<Body>(
  url: string,
  path: string,
  init: Parameters<typeof askApi>[2] = {},
): Promise<Body> {
  const { status, body } = await askApi<Body>({ url: new URL(url).origin }, path, init);
  if (status >= 400) throw new Error(`${path} was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Makes a repository without a worktree in the bucket. Writing many files there takes the server
 * longer than the push, and would run beside the next measurement.
 * @param url of a repository that does not exist yet
 * @throws Error if the server refuses */
export async function makeWithoutWorktree(url: string): Promise<void> {
  const path = apiPathOf(url);
  const [owner, name] = path.split("/").slice(-2);
  await askHoldfast(url, "/repos", { method: "POST", json: { owner, name } });
  await askHoldfast(url, `${path}/worktrees`, { method: "PUT", json: { branches: [] } });
}

/** The pending jobs of a repository.
 * @throws Error if the server refuses */
export async function listJobs(url: string): Promise<readonly { readonly kind: string; readonly dueAt: string }[]> {
  const path = `${apiPathOf(url)}/maintenance`;
  return (await askHoldfast<{ jobs: { kind: string; dueAt: string }[] }>(url, path)).jobs;
}

/** @throws Error if jobs are still pending after the longest wait */
async function waitForJobs(url: string): Promise<void> {
  for (const deadline = Date.now() + JOBS_WAIT_MS; ; await sleep(100)) {
    const jobs = await listJobs(url);
    const due = jobs.filter(({ dueAt }) => Date.parse(dueAt) < Date.now() + SOON_MS).map(({ kind }) => kind);
    if (due.length === 0) return;
    if (Date.now() > deadline) throw new Error(`${url} still has pending jobs: ${due.join(", ")}`);
  }
}

/** The numbers in a JSON value, by path. */
export function listNumbers(value: unknown, path = ""): Record<string, number> {
  if (typeof value === "number") return { [path]: value };
  if (typeof value !== "object" || value === null) return {};
  const fields = Object.entries(value).map(([name, field]) =>
    listNumbers(field, path === "" ? name : `${path} ${name}`),
  );
  return Object.assign({}, ...fields) as Record<string, number>;
}

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
