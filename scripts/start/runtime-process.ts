import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** Tells of every process of the Workers runtime that Miniflare starts here for an address, which Miniflare itself does not.
 * @param address `host:port` as Miniflare was told it; null: any, a lent socket too
 * @returns ends it */
export function watchRuntimes(address: string | null, notice: (runtime: ChildProcess) => void): () => void {
  const noticeChild = (message: unknown): void => {
    const { process: child } = message as { process: ChildProcess };
    // Told of before it is spawned.
    process.nextTick(() => {
      const begins =
        address === null ? ["--socket-fd=entry=", "--socket-addr=entry="] : [`--socket-addr=entry=${address}`];
      if (child.spawnargs?.some((argument) => begins.some((one) => argument.startsWith(one)))) notice(child);
    });
  };
  subscribe("child_process", noticeChild);
  return () => unsubscribe("child_process", noticeChild);
}
