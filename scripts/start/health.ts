import { readFileSync } from "node:fs";

const PAUSE_MS = 2_000;

/** Whoever uses no CPU for so long, and answers nothing, hangs: a disk that is slow beyond measure takes a few seconds. */
const IDLE_MS = 15_000;

/** CPU that is none, in seconds: the clock of processes ticks in hundredths. */
const NO_CPU = 0.03;

/** Whoever works for so long without an answer will not come to one: the longest that a push was seen to hold the server is ten seconds. */
const BUSY_MS = 120_000;

/** Asks a server again and again whether it answers, whatever it answers, and tells when it hangs: not when it refuses connections, as
 * one that has ended does, and not when it is slow because it works.
 * @param pid of its process at the moment, null: there is none
 * @param signal ends it
 * @returns for how long it has not answered (ms), as soon as it hangs */
export async function waitForHang(url: string, pid: () => number | null, signal: AbortSignal): Promise<number> {
  while (!signal.aborted) {
    const silentMs = await probe(url, pid, signal);
    if (silentMs !== null) return silentMs;
    await pause(PAUSE_MS);
  }
  return new Promise(() => {});
}

/** @returns null: it answered, or refused to */
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

/** Reads what CPU a process has used so far; null: nobody knows, or there is no such process.
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
