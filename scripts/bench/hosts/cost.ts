/** What a piece of work costs its host. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { git } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { type RawCommand, sendRaw } from "../work/raw-fetch.ts";
import type { Host } from "./host.ts";

/** The CPU clock counts hundredths of a second: a server whose count stands still for this long is
 * idle. */
const IDLE_MS = 250;

/** Longest wait for a server to become idle. */
const SETTLE_MS = 10_000;

/** The cost of a piece of work: the client's wall time, and the server's CPU time, including its
 * work after the answer. */
export type Cost = { readonly "wall s": number; readonly "server CPU s": number };

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
