import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, cpus, setPriority } from "node:os";
import { text } from "node:stream/consumers";
import type { Asked } from "./asker.ts";

export type { Asked };

/** Asks a repository for its refs again and again, as someone on another machine would: the process
 * that asks takes whichever processor is free, and does not wait behind the clients that keep the
 * server busy. Where this process may not give it that priority, only root may, it waits for its
 * turn as they do.
 * @param url of the remote, as for git
 * @param pauseMs between an answer and the next request
 * @returns ends that, with all requests in order
 * @throws Error where a request is not answered */
export function askMeanwhile(url: string, pauseMs: number): { end(): Promise<Asked[]> } {
  const asker = spawn(process.execPath, [`${import.meta.dirname}/asker.ts`, url, String(pauseMs)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  execFileSync("taskset", ["-acp", `0-${cpus().length - 1}`, String(asker.pid)]);
  if (process.getuid!() === 0) setPriority(asker.pid!, constants.priority.PRIORITY_HIGHEST);
  const output = text(asker.stdout);
  const ended = once(asker, "exit");
  return {
    end: async () => {
      asker.stdin.end();
      const [code] = (await ended) as [number | null];
      if (code !== 0) throw new Error("a request was not answered");
      return JSON.parse(await output) as Asked[];
    },
  };
}

/** The median, the 99th percentile and the most, whole ms. */
export function describeWaits(asked: readonly Asked[]): string {
  const sorted = asked.map(({ ms }) => Math.round(ms)).toSorted((a, b) => a - b);
  return [0.5, 0.99, 1].map((part) => sorted[Math.ceil(part * sorted.length) - 1]).join(", ");
}
