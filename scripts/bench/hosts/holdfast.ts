/** Holdfast as a host, started here or already running. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Limits } from "../../../src/format/configured-limits.ts";
import { QUIET_MS } from "../../../src/format/limits.ts";
import { askApi } from "../../../test/harness/api.ts";
import { readTreeCpuSeconds, readUsage } from "../../../test/harness/process.ts";
import { request } from "../../../test/harness/raw.ts";
import { startServer } from "../../../test/harness/server.ts";
import { reachServer, Target } from "../../verify/target.ts";
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
export async function openHoldfast(url: string, pid: number | null): Promise<Host> {
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
