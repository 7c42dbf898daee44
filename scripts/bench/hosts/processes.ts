/** CPU of servers with several processes. */
import { readdirSync, readFileSync } from "node:fs";
import { readUsage } from "../../../test/harness/process.ts";

/** CPU so far (seconds) of a process and all its descendants, including ended ones that were waited
 * for. It only grows, unless a child ends unawaited. @see proc_pid_stat(5) */
export function readTreeCpuSeconds(pid: number): number {
  const { cpuSeconds, childrenCpuSeconds } = readUsage(pid);
  const own = cpuSeconds + childrenCpuSeconds;
  return listChildren(pid).reduce((sum, child) => sum + orGone(() => readTreeCpuSeconds(child), 0), own);
}

/** Each thread has its own children. @see proc_tid_children(5) */
function listChildren(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    orGone(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"), "")
      .split(" ")
      .filter((child) => child !== "")
      .map(Number),
  );
}

/** A process that ends while it is read has passed its CPU to its parent. */
function orGone<Value>(read: () => Value, gone: Value): Value {
  try {
    return read();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return gone;
    throw error;
  }
}
