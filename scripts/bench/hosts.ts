/** The two Git hosts that are measured beside each other. */
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RepositoryEvent } from "../../src/repository/repository-event.ts";
import { git } from "../../test/harness/git.ts";
import { startNative } from "../../test/harness/native.ts";
import { request } from "../../test/harness/raw.ts";
import { startServer } from "../../test/harness/server.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { startApache } from "./apache.ts";

/** A running Git host. */
export interface Host {
  /** Readies a new, empty repository.
   * @returns its URL */
  makeRepository(): Promise<string>;
  /** CPU of the server so far. */
  readCpuSeconds(): number;
  /** Has a repository put in order, as its host does from time to time.
   * @returns figures of how it lies in storage, if the host tells any */
  maintain(url: string): Promise<Readonly<Record<string, number>>>;
  /** Takes the events that the server has told of since the last time; a native one tells none. */
  takeEvents(): readonly RepositoryEvent[];
  /** Largest resident memory of the server so far; null where it is many processes. */
  readPeakMemoryBytes(): number | null;
  close(): Promise<void>;
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
    close: () => server.close(),
  };
}

/** Asks for maintenance, and reads how things are then; every number in the answer is a figure. */
async function maintainHoldfast(url: string): Promise<Readonly<Record<string, number>>> {
  const { origin, pathname } = new URL(url);
  const path = `${origin}/api/repos${pathname.replace(/\.git$/, "")}/maintenance`;
  const started = await request(path, { method: "POST", body: Buffer.alloc(0) });
  if (started.status >= 400) {
    console.error(`maintenance was answered with ${started.status}: the repository stays as it is`);
    return {};
  }
  const { status, body } = await request(path);
  return status === 200 ? listNumbers(JSON.parse(body.toString())) : {};
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

/** Starts `git http-backend` behind Apache, or, where that is not installed, behind the tests' own CGI server. */
export async function startReference(): Promise<Host> {
  const rootDir = makeTempDir("reference");
  const apache = await startApache(rootDir);
  if (apache === undefined) {
    console.error(
      "Apache is not installed (package apache2): a small CGI server in Node stands in, its CPU uncounted.",
    );
  }
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
      return {};
    },
    takeEvents: () => [],
    readPeakMemoryBytes: () => null,
    close: () => server.close(),
  };
}

/** The CPU clock counts hundredths of a second: a server that shows no more in this time is idle. */
const IDLE_MS = 250;

/** Longest wait for a server to become idle. */
const SETTLE_MS = 10_000;

/** What a piece of work took. */
export interface Cost {
  /** As the client saw it. */
  readonly wallSeconds: number;
  /** Of the server alone, what it did after its answer included. */
  readonly cpuSeconds: number;
}

/** Measures one piece of work against a host, which is idle before and after. */
export async function measureCost(host: Host, work: () => Promise<unknown>): Promise<Cost> {
  const before = await settle(host);
  const start = performance.now();
  await work();
  const wallSeconds = (performance.now() - start) / 1000;
  return { wallSeconds, cpuSeconds: (await settle(host)) - before };
}

async function settle(host: Host): Promise<number> {
  const deadline = Date.now() + SETTLE_MS;
  let cpuSeconds = host.readCpuSeconds();
  for (let busy = true; busy && Date.now() < deadline;) {
    await sleep(IDLE_MS);
    const now = host.readCpuSeconds();
    busy = now > cpuSeconds;
    cpuSeconds = now;
  }
  return cpuSeconds;
}

/** Both hosts, running. */
export interface Hosts {
  readonly native: Host;
  readonly holdfast: Host;
}

/** Pushes every ref of a repository into a new one.
 * @returns its URL */
export async function pushNew(dir: string, host: Host): Promise<string> {
  const url = await host.makeRepository();
  await git(dir, "push", "-q", "--mirror", url);
  return url;
}

/** What the server held since its events were last taken, as far as it tells: takes them. */
export function readMemory(host: Host): Readonly<Record<string, number>> {
  const held = host.takeEvents().flatMap((event) => ("peakBytes" in event ? [event.peakBytes ?? 0] : []));
  const peakBytes = host.readPeakMemoryBytes();
  return {
    ...(held.length === 0 ? {} : { "held MB": Math.max(...held) / 1e6 }),
    ...(peakBytes === null ? {} : { "RSS MB since start": peakBytes / 1e6 }),
  };
}
