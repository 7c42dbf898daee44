import { type ChildProcess, spawn } from "node:child_process";

/** Reads process ids, a line each, and when nobody is there any more to write one, ends the process that was named last. */
const SCRIPT = `while read -r line; do pid=$line; done; [ -z "$pid" ] || kill -9 "$pid"`;

/** Sees to it that the runtime ends with this process, whatever ends that, SIGKILL too: it would go on listening without anybody to look
 * after it. A shell waits for the end of a pipe that this process alone writes to. */
export class EndWithParent {
  #shell: ChildProcess | null;
  #pid: number | null = null;

  constructor() {
    this.#shell = this.#spawn();
  }

  /** Says which process is to end with this one; null: none. */
  watch(pid: number | null): void {
    this.#pid = pid;
    this.#shell?.stdin!.write(`${pid ?? ""}\n`);
  }

  #spawn(): ChildProcess | null {
    // Without a shell; a console's processes end with it.
    if (process.platform === "win32") return null;
    // In a session of its own, which no terminal sends signals to.
    const shell = spawn("sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    shell.stdin.on("error", () => {});
    shell.on("exit", () => {
      this.#shell = this.#spawn();
      this.watch(this.#pid);
    });
    return shell;
  }
}
