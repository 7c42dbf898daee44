import { readFileSync } from "node:fs";

const PAUSE_MS = 2_000;

/** A server that uses no CPU for this long, and does not answer, hangs. A very slow disk takes a
 * few seconds. */
const IDLE_MS = 15_000;

/** Less CPU than this counts as none, in seconds: the clock of processes ticks in hundredths. */
const NO_CPU = 0.03;

/** A server that is busy for this long without an answer will not give one. The longest block by a
 * push that was measured is ten seconds. */
const BUSY_MS = 120_000;

/** Polls a server and returns when it hangs. Any answer counts. A refused connection is not a hang
 * (the server has ended), nor is a slow answer while it uses CPU.
 * @param pid of its current process; null if there is none
 * @param signal ends the polling
 * @returns how long it has not answered (ms), as soon as it hangs */
export async function waitForHang(url: string, pid: () => number | null, signal: AbortSignal): Promise<number> {
  while (!signal.aborted) {
    const silentMs = await probe(url, pid, signal);
    if (silentMs !== null) return silentMs;
    await pause(PAUSE_MS);
  }
  return new Promise(() => {});
}

/** @returns null if it answered, or refused the connection */
async function probe(url: string, pid: () => number | null, signal: AbortSignal): Promise<number | null> {
  const asked = new AbortController();
  const answered = fetch(url, { signal: AbortSignal.any([signal, asked.signal]) }).then(
    async (response) => response.body?.cancel(),
    () => {},
  );
  const startMs = performance.now();
  let idleSinceMs = startMs;
  let usedSeconds = readCpuSeconds(pid());
  try {
    for (;;) {
      if (await Promise.race([answered.then(() => true), pause(PAUSE_MS)])) return null;
      const nowMs = performance.now();
      const nowSeconds = readCpuSeconds(pid());
      if (nowSeconds === null || usedSeconds === null || nowSeconds - usedSeconds > NO_CPU) {
        idleSinceMs = nowMs;
        usedSeconds = nowSeconds;
      }
      if (nowMs - idleSinceMs >= IDLE_MS || nowMs - startMs >= BUSY_MS) return nowMs - startMs;
    }
  } finally {
    asked.abort();
  }
}

/** The CPU time of a process so far; null if it cannot be read or the process has ended.
 * @see proc_pid_stat(5) */
function readCpuSeconds(pid: number | null): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13);
    return (Number(user) + Number(system)) / 100;
  } catch {
    return null;
  }
}

function pause(ms: number): Promise<false> {
  return new Promise((wait) => setTimeout(wait, ms, false));
}
