/** The two Git hosts that are measured beside each other. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { git } from "../../test/harness/git.ts";
import { startNative } from "../../test/harness/native.ts";
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
  close(): Promise<void>;
}

/** Starts Holdfast as deployed, on the real runtime. */
export async function startHoldfast(): Promise<Host> {
  const server = await startServer();
  let count = 0;
  return {
    makeRepository: async () => `${server.url}/bench/repository-${count++}.git`,
    readCpuSeconds: () => server.readUsage().cpuSeconds,
    close: () => server.close(),
  };
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
      apache?.admit(rootDir);
      return `${server.url}/${name}`;
    },
    readCpuSeconds: () => server.readCpuSeconds(),
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
