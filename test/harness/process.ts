import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Resources that a process has used, as counted by Linux. */
export interface Usage {
  /** CPU of the process itself, user and system. */
  readonly cpuSeconds: number;
  /** CPU of its ended and awaited children, and of theirs. */
  readonly childrenCpuSeconds: number;
  /** Resident memory now. */
  readonly memoryBytes: number;
  /** Largest resident memory so far. */
  readonly peakMemoryBytes: number;
}

let ticksPerSecond: number | undefined;

/** Reads the resources used by a running process.
 * @throws Error if there is no such process, or no /proc
 * @see proc_pid_stat(5) */
export function readUsage(pid: number): Usage {
  ticksPerSecond ??= Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The fields after the command's name, which may contain spaces: index 0 is field 3, the state.
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [userTicks = 0, systemTicks = 0, childrenUserTicks = 0, childrenSystemTicks = 0] = fields.slice(11, 15);
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const readBytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
  return {
    cpuSeconds: (userTicks + systemTicks) / ticksPerSecond,
    childrenCpuSeconds: (childrenUserTicks + childrenSystemTicks) / ticksPerSecond,
    memoryBytes: readBytes("VmRSS"),
    peakMemoryBytes: readBytes("VmHWM"),
  };
}

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
