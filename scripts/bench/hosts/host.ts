/** A Git host that is measured, and what a piece of work costs it. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RepositoryEvent } from "../../../src/contract/log-events.ts";
import { git } from "../../../test/harness/git.ts";
import { type RawCommand, sendRaw } from "../../../test/harness/raw-fetch.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";

/** A running Git host. */
export interface Host {
  /** Makes a new, empty repository.
   * @returns its URL */
  makeRepository(): Promise<string>;
  /** CPU seconds of the server so far; NaN where they cannot be read. */
  readCpuSeconds(): number;
  /** Runs the maintenance that the host does from time to time. */
  maintain(url: string): Promise<void>;
  /** Waits until the work that follows a push is done, as far as it is due within seconds. */
  rest(url: string): Promise<void>;
  /** Removes a repository and its pending work. */
  remove(url: string): Promise<void>;
  /** Takes the events that the server has logged since the last call; a native one logs none. */
  takeEvents(): readonly RepositoryEvent[];
  /** Peak resident memory of the server so far; null where it has many processes. */
  readPeakMemoryBytes(): number | null;
  /** Restarts the server with its data; absent where this program did not start it. */
  readonly restart?: () => Promise<void>;
  close(): Promise<void>;
}

/** Pushes every ref of a repository into a new one, and waits until the host has finished.
 * @returns its URL */
export async function pushNew(dir: string, host: Host): Promise<string> {
  const url = await host.makeRepository();
  await git(dir, "push", "-q", "--mirror", url);
  await host.rest(url);
  return url;
}

/** The server's memory since its events were last taken, as far as it reports it. Takes the
 * events. */
export function readMemory(host: Host): Readonly<Record<string, number>> {
  const held = host.takeEvents().flatMap((event) => ("peakBytes" in event ? [event.peakBytes ?? 0] : []));
  const peakBytes = host.readPeakMemoryBytes();
  return {
    ...(held.length === 0 ? {} : { "held MB": Math.max(...held) / 1e6 }),
    ...(peakBytes === null ? {} : { "RSS MB since start": peakBytes / 1e6 }),
  };
}

/** The CPU clock counts hundredths of a second: a server whose count stands still for this long is
 * idle. */
const IDLE_MS = 250;

/** Longest wait for a server to become idle. */
const SETTLE_MS = 10_000;

/** The cost of a piece of work: the client's wall time, and the server's CPU time, including its
 * work after the answer. */
type Cost = { readonly "wall s": number; readonly "server CPU s": number };

/** Measures one piece of work on a host, which is idle before and after.
 * @param delayMs how long after its answers the host may begin its later work
 * @param idleMs how long it must have used no CPU to count as idle
 * @param isIdle whether it is idle already, as after the previous measurement */
export async function measureCost(
  host: Host,
  work: () => Promise<unknown>,
  { delayMs = 0, idleMs = IDLE_MS, isIdle = false } = {},
): Promise<Cost> {
  const before = isIdle ? host.readCpuSeconds() : await settle(host, idleMs);
  const start = performance.now();
  await work();
  const wallSeconds = (performance.now() - start) / 1000;
  await sleep(delayMs);
  return { "wall s": wallSeconds, "server CPU s": (await settle(host, idleMs)) - before };
}

async function settle(host: Host, idleMs: number): Promise<number> {
  const deadline = Date.now() + SETTLE_MS;
  let cpuSeconds = host.readCpuSeconds();
  for (let busy = true; busy && Date.now() < deadline;) {
    await sleep(idleMs);
    const now = host.readCpuSeconds();
    busy = now > cpuSeconds;
    cpuSeconds = now;
  }
  return cpuSeconds;
}

/** The same cost in milliseconds, for short works. */
export function inMs({ "wall s": wall, "server CPU s": cpu }: Cost): Readonly<Record<string, number>> {
  return { "wall ms": wall * 1000, "server CPU ms": cpu * 1000 };
}

/** Measures a raw client that discards what arrives. */
export async function measureRaw(
  host: Host,
  url: string,
  command: RawCommand,
): Promise<Cost & Readonly<Record<string, number>>> {
  let fetched!: Awaited<ReturnType<typeof sendRaw>>;
  const cost = await measureCost(host, async () => {
    fetched = await sendRaw(url, command);
  });
  const { firstByteSeconds, totalSeconds, sizeBytes } = fetched;
  return { ...cost, "first byte s": firstByteSeconds, "wall s": totalSeconds, "body MB": sizeBytes / 1e6 };
}

/** Measures a clone by git, into a folder that is removed afterwards. */
export async function measureClone(host: Host, url: string, ...options: readonly string[]): Promise<Cost> {
  const dir = makeTempDir("clone");
  const cost = await measureCost(host, () => git(dir, "clone", "-q", ...options, url, join(dir, "clone")));
  rmSync(dir, { recursive: true });
  return cost;
}
