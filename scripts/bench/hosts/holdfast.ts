/** Holdfast as a host: started here, or running already. */
import { askApi } from "../../../test/harness/api.ts";
import { readUsage } from "../../../test/harness/process.ts";
import { request } from "../../../test/harness/raw.ts";
import { startServer } from "../../../test/harness/server.ts";
import type { Host } from "./host.ts";
import { readTreeCpuSeconds } from "./processes.ts";

/** A Holdfast server that somebody else has started. */
export interface RunningServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** Its process, where it runs on this machine and its CPU is to be told. */
  readonly pid: number | null;
}

/** Reads a server's URL. @throws Error if it is none */
export function readUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw new Error(`${text}: not the URL of a server`);
  return new URL(text).origin;
}

/** Starts Holdfast as deployed, on the real runtime. */
export async function startHoldfast(): Promise<Host> {
  const server = await startServer();
  let count = 0;
  return {
    makeRepository: async () => `${server.url}/bench/repository-${count++}.git`,
    readCpuSeconds: () => server.readUsage().cpuSeconds,
    maintain: (url) => maintainHoldfast(url),
    takeEvents: () => server.takeEvents(),
    readPeakMemoryBytes: () => server.readUsage().peakMemoryBytes,
    restart: () => server.restart(),
    close: () => server.close(),
  };
}

/** Takes a server that runs already. Closing deletes the repositories that were made there, and leaves it alone.
 * @throws Error if it does not answer */
export async function openHoldfast({ url, pid }: RunningServer): Promise<Host> {
  const { status } = await request(`${url}/healthz`);
  if (status !== 200) throw new Error(`${url} is no Holdfast server that is well: /healthz answers ${status}`);
  // Names of this run: what an earlier one left does no harm.
  const run = Date.now().toString(36);
  const names: string[] = [];
  return {
    async makeRepository() {
      names.push(`${run}-${names.length}`);
      return `${url}/bench/${names.at(-1)}.git`;
    },
    readCpuSeconds: () => (pid === null ? Number.NaN : readTreeCpuSeconds(pid)),
    maintain: (repository) => maintainHoldfast(repository),
    takeEvents: () => [],
    readPeakMemoryBytes: () => (pid === null ? null : readUsage(pid).peakMemoryBytes),
    async close() {
      for (const name of names.splice(0)) {
        const { status: deleted } = await askApi({ url }, `/repos/bench/${name}`, { method: "DELETE" });
        // Not there: it was to be made, and nothing came of it.
        if (deleted >= 400 && deleted !== 404)
          console.error(`/bench/${name} stays: its deletion was answered with ${deleted}`);
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

/** Asks for maintenance, and reads how things are then; every number in the answer is a figure. */
async function maintainHoldfast(url: string): Promise<Readonly<Record<string, number>>> {
  const { origin } = new URL(url);
  const path = `${apiPathOf(url)}/maintenance`;
  const { status } = await askApi({ url: origin }, path, { method: "POST" });
  if (status >= 400) {
    console.error(`maintenance was answered with ${status}: the repository stays as it is`);
    return {};
  }
  const answer = await askApi({ url: origin }, path);
  return answer.status === 200 ? listNumbers(answer.body) : {};
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
