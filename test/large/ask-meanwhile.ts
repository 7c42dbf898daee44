import { setTimeout as sleep } from "node:timers/promises";

/** A request that was answered while something else went on. */
export interface Asked {
  /** When it was sent, by `performance.now()`. */
  readonly startMs: number;
  /** How long its answer took (ms). */
  readonly ms: number;
}

/** Asks a repository for its refs again and again.
 * @param url of the remote, as for git
 * @param pauseMs between an answer and the next request
 * @returns ends that, with all requests in order */
export function askMeanwhile(url: string, pauseMs: number): { end(): Promise<Asked[]> } {
  const asked: Asked[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const startMs = performance.now();
      await (await fetch(`${url}/info/refs?service=git-upload-pack`)).arrayBuffer();
      asked.push({ startMs, ms: performance.now() - startMs });
      await sleep(pauseMs);
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await asking;
      return asked;
    },
  };
}

/** The median, the 99th percentile and the most, whole ms. */
export function describeWaits(asked: readonly Asked[]): string {
  const sorted = asked.map(({ ms }) => Math.round(ms)).toSorted((a, b) => a - b);
  return [0.5, 0.99, 1].map((part) => sorted[Math.ceil(part * sorted.length) - 1]).join(", ");
}
