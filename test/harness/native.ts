import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { gitEnv } from "./git.ts";
import { readUsage } from "./process.ts";

/** Git's own smart HTTP server: the oracle, and the measure beside which the Worker is measured. */
export interface NativeServer {
  /** Without a slash at its end; `<url>/<folder below the root>` is a remote. */
  readonly url: string;
  /** CPU of every git process it ran to its end so far; what carries the bytes over HTTP is not counted. */
  readCpuSeconds(): number;
  close(): Promise<void>;
}

/** Serves the repositories below a folder with `git http-backend`, from a process of its own, so that the CPU of its
 * children is theirs alone. Pushes are let in.
 * @param rootDir holds bare repositories, made beforehand */
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
