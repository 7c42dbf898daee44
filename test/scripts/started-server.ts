import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { expect } from "vitest";
import { PROJECT } from "../harness/build.ts";

/** How a command ended, and what it said. */
export interface Ended {
  /** Null: by a signal. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command of the project's, as a user of a shell has it: with all its processes in a group of
 * their own. */
export class StartedCommand {
  readonly #child: ChildProcess;
  #stdout = "";
  #stderr = "";
  /** Whether nobody writes to its output any more: what npm has started may outlive it. */
  #isClosed = false;

  constructor(command: string, args: readonly string[]) {
    const { FORCE_COLOR: _, ...env } = process.env;
    this.#child = spawn(command, args, { cwd: PROJECT, env, detached: true });
    this.#child.stdout!.on("data", (chunk: Buffer) => (this.#stdout += chunk.toString()));
    this.#child.stderr!.on("data", (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.#child.on("close", () => (this.#isClosed = true));
  }

  /** Of the first of its processes, and of the group. */
  get pid(): number {
    return this.#child.pid!;
  }

  /** Both outputs so far. */
  get output(): string {
    return this.#stdout + this.#stderr;
  }

  /** What it has written to standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  get hasEnded(): boolean {
    return this.#isClosed;
  }

  /** Sends a signal to all its processes, as a terminal does. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }

  kill(signal: NodeJS.Signals = "SIGTERM"): void {
    this.#child.kill(signal);
  }

  /** Waits for a text in its output.
   * @throws Error if it ends without */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.output);
      if (found !== null) return found;
      if (this.hasEnded) throw new Error(`it ended without saying ${pattern}: ${this.output}`);
      await new Promise((wait) => setTimeout(wait, 25));
    }
  }

  async ended(): Promise<Ended> {
    if (!this.hasEnded) await once(this.#child, "close");
    return { status: this.#child.exitCode, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** Its processes that have not ended: command lines by process id. */
  async processes(): Promise<Map<number, string>> {
    const { stdout } = await promisify(execFile)("ps", ["-eo", "pgid=,pid=,stat=,args="]);
    const rows = stdout.split("\n").map((line) => /^ *(\d+) +(\d+) (\S+) +(.*)/.exec(line));
    const own = rows.filter((row) => row !== null && Number(row[1]) === this.pid && !row[3]!.startsWith("Z"));
    return new Map(own.map((row) => [Number(row![2]), row![4]!]));
  }

  /** The id of the process of it whose command line begins with a text, or has it behind a slash.
   * @throws Error if there is none */
  async find(text: string): Promise<number> {
    const processes = await this.processes();
    for (const [pid, line] of processes) if (line.startsWith(text) || line.includes(`/${text}`)) return pid;
    throw new Error(`no process is ${text}: ${[...processes.values()].join("\n")}`);
  }
}

/** A server that a user has started. */
export class StartedServer extends StartedCommand {
  /** Without a slash at its end; once `ready`. */
  url = "";

  constructor(...options: string[]) {
    super("npm", ["start", "--silent", "--", ...options]);
  }

  /** Waits until it says where it serves. */
  async ready(): Promise<this> {
    [, this.url = ""] = await this.says(/git push (http:\/\/\S+:\d+)\/me\/my-repo.git main[^]*Ctrl-C/);
    return this;
  }

  /** The process that serves. */
  runtime(): Promise<number> {
    return this.find("workerd serve");
  }

  /** Ends it, if it has not ended, and waits until nothing is left of it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasEnded) this.kill();
    await this.ended();
    await expect.poll(() => this.processes()).toEqual(new Map());
  }
}
