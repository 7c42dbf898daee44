import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { gitEnv } from "./git.ts";
import { readUsage } from "./process.ts";

/** Git's own smart HTTP server: the oracle for tests, and the yardstick for measurements. */
export interface NativeServer {
  /** Without a trailing slash; `<url>/<directory below the root>` is a remote. */
  readonly url: string;
  /** CPU of all git processes that have ended, without the HTTP transfer. */
  readCpuSeconds(): number;
  close(): Promise<void>;
}

/** Serves the repositories below a directory with `git http-backend`, from a separate process, so
 * that its children's CPU can be measured. Pushes are allowed.
 * @param rootDir contains existing bare repositories */
export async function startNative(rootDir: string): Promise<NativeServer> {
  const child = fork(join(import.meta.dirname, "http-backend.ts"), [rootDir], { env: gitEnv(), execArgv: [] });
  const [port] = (await once(child, "message")) as [number];
  const { pid } = child;
  if (pid === undefined) throw new Error("the native server has no process id: it did not start");
  return {
    url: `http://127.0.0.1:${port}`,
    readCpuSeconds: () => readUsage(pid).childrenCpuSeconds,
    async close() {
      const gone = once(child, "exit");
      child.kill();
      await gone;
    },
  };
}
