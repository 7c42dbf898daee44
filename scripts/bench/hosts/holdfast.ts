/** Holdfast as a host: started here, or running already. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Limits } from "../../../src/format/configured-limits.ts";
import { QUIET_MS } from "../../../src/format/limits.ts";
import { askApi } from "../../../test/harness/api.ts";
import { readUsage } from "../../../test/harness/process.ts";
import { request } from "../../../test/harness/raw.ts";
import { startServer } from "../../../test/harness/server.ts";
import { UsageError } from "../../command-line.ts";
import type { Host } from "./host.ts";
import { readTreeCpuSeconds } from "./processes.ts";

/** Jobs that are due within so long follow at once upon what was done: they are waited for. A bundle, due after a minute, is not. */
const SOON_MS = 10_000;

/** Longest wait for them. */
const JOBS_WAIT_MS = 60_000;

/** A Holdfast server that somebody else has started. */
interface RunningServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** Its process, where it runs on this machine and its CPU is to be told. */
  readonly pid: number | null;
}

/** Reads a server's URL. @throws UsageError if it is none */
export function readUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw new UsageError(`${text}: not the URL of a server`);
  return new URL(text).origin;
}

/** Asks a server for what only who may administer all that an owner has is told: the token is that of HOLDFAST_TOKEN.
 * @throws Error with what to do when it does not answer, or does not tell it */
export async function reachServer(url: string, owner: string): Promise<void> {
  const { status, body } = await askApi({ url }, `/tokens?owner=${owner}`).catch((error: Error) => {
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`${url} cannot be reached: ${reason}`, { cause: error });
  });
  if (status === 401 || status === 403)
    throw new Error(`${url} asks for a token that may administer all that "${owner}" has: set HOLDFAST_TOKEN`);
  if (status !== 200) throw new Error(`${url} is no Holdfast server: ${status} ${JSON.stringify(body).slice(0, 300)}`);
}

/** Starts Holdfast as deployed, on the real runtime.
 * @param limits lowered ones; the others are as without configuration */
export async function startHoldfast(limits: Partial<Limits> = {}): Promise<Host> {
  const server = await startServer({ vars: { LIMITS: JSON.stringify({ quietMs: QUIET_MS, ...limits }) } });
  let count = 0;
  return {
    makeRepository: async () => `${server.url}/bench/repository-${count++}.git`,
    readCpuSeconds: () => server.readUsage().cpuSeconds,
    maintain,
    rest: waitForJobs,
    async remove(url) {
      const status = await removeHoldfast(url);
      if (status >= 400) throw new Error(`the deletion of ${url} was answered with ${status}`);
    },
    takeEvents: () => server.takeEvents(),
    readPeakMemoryBytes: () => server.readUsage().peakMemoryBytes,
    restart: () => server.restart(),
    close: () => server.close(),
  };
}

/** Takes a server that runs already. Closing deletes the repositories that were made there, and leaves it alone.
 * @throws Error if it does not answer, or wants another token */
export async function openHoldfast({ url, pid }: RunningServer): Promise<Host> {
  await reachServer(url, "bench");
  const { status } = await request(`${url}/healthz`);
  if (status !== 200) throw new Error(`${url} is no Holdfast server that is well: /healthz answers ${status}`);
  // Names of this run: what an earlier one left does no harm.
  const run = Date.now().toString(36);
  const made: string[] = [];
  return {
    async makeRepository() {
      made.push(`${url}/bench/${run}-${made.length}.git`);
      return made.at(-1)!;
    },
    readCpuSeconds: () => (pid === null ? Number.NaN : readTreeCpuSeconds(pid)),
    maintain,
    rest: waitForJobs,
    async remove(repository) {
      // What stays is told of in the end.
      await removeHoldfast(repository);
    },
    takeEvents: () => [],
    readPeakMemoryBytes: () => (pid === null ? null : readUsage(pid).peakMemoryBytes),
    async close() {
      for (const repository of made.splice(0)) {
        const deleted = await removeHoldfast(repository);
        // Not there: it was removed before, or it was to be made, and nothing came of it.
        if (deleted >= 400 && deleted !== 404)
          console.error(`${repository} stays: its deletion was answered with ${deleted}`);
      }
    },
  };
}

/** Where the API has the repository of a URL, below `/api`. */
export function apiPathOf(url: string): string {
  return `/repos${new URL(url).pathname.replace(/\.git$/, "")}`;
}

/** Asks the API about the repository of a URL.
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

/** Makes a repository whose files are not put into the bucket one by one behind every push: of many, that takes the server longer than
 * the push, and what is measured next would be measured beside it.
 * @param url of a repository that is not there yet
 * @throws Error if the server refuses */
export async function makeWithoutWorktree(url: string): Promise<void> {
  const path = apiPathOf(url);
  const [owner, name] = path.split("/").slice(-2);
  await askHoldfast(url, "/repos", { method: "POST", json: { owner, name } });
  await askHoldfast(url, `${path}/worktrees`, { method: "PUT", json: { branches: [] } });
}

/** @returns the answer's status */
async function removeHoldfast(url: string): Promise<number> {
  return (await askApi({ url: new URL(url).origin }, apiPathOf(url), { method: "DELETE" })).status;
}

/** The jobs of a repository that are to be run.
 * @throws Error if the server refuses */
export async function listJobs(url: string): Promise<readonly { readonly kind: string; readonly dueAt: string }[]> {
  const path = `${apiPathOf(url)}/maintenance`;
  return (await askHoldfast<{ jobs: { kind: string; dueAt: string }[] }>(url, path)).jobs;
}

async function maintain(url: string): Promise<void> {
  await askHoldfast(url, `${apiPathOf(url)}/maintenance`, { method: "POST" });
}

/** @throws Error if there is always something left to do */
async function waitForJobs(url: string): Promise<void> {
  for (const deadline = Date.now() + JOBS_WAIT_MS; ; await sleep(100)) {
    const jobs = await listJobs(url);
    const due = jobs.filter(({ dueAt }) => Date.parse(dueAt) < Date.now() + SOON_MS).map(({ kind }) => kind);
    if (due.length === 0) return;
    if (Date.now() > deadline) throw new Error(`${url} still has to do: ${due.join(", ")}`);
  }
}

/** The numbers in a JSON value by their paths. */
export function listNumbers(value: unknown, path = ""): Record<string, number> {
  if (typeof value === "number") return { [path]: value };
  if (typeof value !== "object" || value === null) return {};
  const fields = Object.entries(value).map(([name, field]) =>
    listNumbers(field, path === "" ? name : `${path} ${name}`),
  );
  return Object.assign({}, ...fields) as Record<string, number>;
}
