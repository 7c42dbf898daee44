import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { makeTempDir } from "./temp-dir.ts";

/** A command to run. */
export interface Command {
  /** The program, found on its own PATH, and its arguments. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | Uint8Array;
  /** Aborting it ends the command and all its child processes. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a command. */
export interface Ended {
  /** Exit code; above 128: ended by a signal. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** Directory for the files of all shells. */
let dir: string | undefined;
let shells = 0;

/** Shells without a command. */
const idle: Shell[] = [];

/** Runs a command through a shell that is kept for the next one. Node starts a process by copying
 * the page tables of its own memory, which takes some 10 ms in a test worker; for a small shell it
 * takes one.
 * @throws Error if there is no such program, the signal's reason if it was aborted */
export async function runCommand(command: Command): Promise<Ended> {
  command.signal?.throwIfAborted();
  const shell = idle.pop() ?? new Shell();
  const ended = await shell.run(command);
  idle.push(shell);
  if (ended.code === 127) throw new Error(`${command.argv[0]!} cannot be run: ${ended.stderr.toString()}`);
  return ended;
}

/** A shell, which runs one command at a time. It ends with this process, since that closes its
 * input. */
class Shell {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  /** Path of its files, without their extensions. */
  readonly #files: string;

  constructor() {
    dir ??= makeTempDir("shells");
    this.#files = join(dir, String(++shells));
    // In a process group of its own, so that all of it can be ended.
    this.#child = spawn("/bin/sh", [], { detached: true, env: {}, stdio: ["pipe", "pipe", "ignore"] });
    this.#child.stdin!.on("error", () => undefined);
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
    this.#setWaiting(false);
  }

  async run({ argv, cwd, env, stdin, signal }: Command): Promise<Ended> {
    const file = (name: string): string => `${this.#files}.${name}`;
    const isEmpty = stdin.length === 0;
    if (!isEmpty) writeFileSync(file("in"), stdin);
    const variables = Object.entries(env).map(([name, value]) => `${name}=${quote(value)}`);
    const script =
      `( cd ${quote(cwd)} && export ${variables.join(" ")} && exec ${argv.map(quote).join(" ")} )` +
      ` <${isEmpty ? "/dev/null" : quote(file("in"))} >${quote(file("out"))} 2>${quote(file("err"))}; echo $?\n`;
    const end = (): void => void process.kill(-this.#child.pid!, "SIGTERM");
    signal?.addEventListener("abort", end, { once: true });
    this.#setWaiting(true);
    try {
      this.#child.stdin!.write(script);
      const { value, done } = await this.#lines.next();
      signal?.throwIfAborted();
      if (done === true) throw new Error(`the shell that ran ${argv.join(" ")} has ended`);
      return { code: Number(value), stdout: take(file("out")), stderr: take(file("err")) };
    } finally {
      signal?.removeEventListener("abort", end);
      this.#setWaiting(false);
    }
  }

  /** An idle shell does not keep this process alive. */
  #setWaiting(isWaiting: boolean): void {
    const sockets = [this.#child.stdin, this.#child.stdout] as unknown as Socket[];
    for (const handle of [this.#child, ...sockets]) handle[isWaiting ? "ref" : "unref"]();
  }
}

/** Quotes text as one word for the shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Reads a file and removes it. The next command creates a new one, since file systems write at
 * once what replaces an existing file. */
function take(path: string): Buffer {
  const bytes = readFileSync(path);
  rmSync(path);
  return bytes;
}
