import { type ChildProcess, spawn } from "node:child_process";

/** Reads process ids, one a line. At the end of the input, kills the process that was named
 * last. */
const SCRIPT = `while read -r line; do pid=$line; done; [ -z "$pid" ] || kill -9 "$pid"`;

/** Kills the runtime when this process ends, even by SIGKILL: it would keep listening without
 * supervision. A shell waits for the end of a pipe that only this process writes to. */
export class EndWithParent {
  #shell: ChildProcess | null;
  #pid: number | null = null;

  constructor() {
    this.#shell = this.#spawn();
  }

  /** Sets the process that must end with this one; null for none. */
  watch(pid: number | null): void {
    this.#pid = pid;
    this.#shell?.stdin!.write(`${pid ?? ""}\n`);
  }

  #spawn(): ChildProcess | null {
    // There is no shell; a console's processes end with it.
    if (process.platform === "win32") return null;
    // In its own session, which no terminal sends signals to.
    const shell = spawn("sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    shell.stdin.on("error", () => {});
    shell.on("exit", () => {
      this.#shell = this.#spawn();
      this.watch(this.#pid);
    });
    return shell;
  }
}
