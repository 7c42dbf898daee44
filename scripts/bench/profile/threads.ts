/** CPU of a process by its threads. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** CPU so far (ms) of the threads that do one kind of work. */
export interface ThreadTimes {
  /** The thread that runs every isolate. */
  readonly main: number;
  /** Of it, in the system: files, sockets. */
  readonly mainSystem: number;
  /** V8's: collecting garbage and compiling beside the main thread. */
  readonly v8: number;
  /** The profiler's own. */
  readonly profiler: number;
  readonly others: number;
}

let ticksPerSecond: number | undefined;

/** @throws Error if there is no such process, or no /proc
 * @see proc_pid_task(5) */
export function readThreads(pid: number): ThreadTimes {
  ticksPerSecond ??= Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  const times = { main: 0, mainSystem: 0, v8: 0, profiler: 0, others: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    // The fields after the name: index 0 is field 3, the state.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [user, system] = [fields[11], fields[12]].map((ticks) => (Number(ticks) * 1_000) / ticksPerSecond!);
    const kind =
      thread === String(pid)
        ? "main"
        : name.startsWith("v8:Prof")
          ? "profiler"
          : name.startsWith("V8 ")
            ? "v8"
            : "others";
    times[kind] += user! + system!;
    if (kind === "main") times.mainSystem += system!;
  }
  return times;
}

/** What was used between two readings. */
export function subtractThreads(after: ThreadTimes, before: ThreadTimes): ThreadTimes {
  return {
    main: after.main - before.main,
    mainSystem: after.mainSystem - before.mainSystem,
    v8: after.v8 - before.v8,
    profiler: after.profiler - before.profiler,
    others: after.others - before.others,
  };
}

/** CPU of the whole process without the profiler's threads. */
export function sumThreads({ main, v8, others }: ThreadTimes): number {
  return main + v8 + others;
}
