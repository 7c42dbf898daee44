/** What a piece of work costs its host. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "./host.ts";

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

/** Measures one piece of work against a host, which is idle before and after.
 * @param delayMs how long after its answers the host may begin with what it does behind them
 * @param idleMs for how long it must have done nothing to be idle
 * @param isIdle whether it is so already, as after what was measured just before */
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
  return { wallSeconds, cpuSeconds: (await settle(host, idleMs)) - before };
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
