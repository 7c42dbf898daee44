import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** Reports every process of the Workers runtime that Miniflare starts for an address; Miniflare
 * itself does not.
 * @param address `host:port` as Miniflare got it; null: any, even a passed socket
 * @returns ends the watch */
export function watchRuntimes(address: string | null, notice: (runtime: ChildProcess) => void): () => void {
  const noticeChild = (message: unknown): void => {
    const { process: child } = message as { process: ChildProcess };
    // The event comes before the process is spawned.
    process.nextTick(() => {
      const begins =
        address === null ? ["--socket-fd=entry=", "--socket-addr=entry="] : [`--socket-addr=entry=${address}`];
      if (child.spawnargs?.some((argument) => begins.some((one) => argument.startsWith(one)))) notice(child);
    });
  };
  subscribe("child_process", noticeChild);
  return () => unsubscribe("child_process", noticeChild);
}
