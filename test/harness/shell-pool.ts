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
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | Uint8Array;
  /** Ends the command, and whatever it started, when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** How it ended. */
export interface Ended {
  /** Its exit code; above 128: by a signal. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** Where all shells have their files. */
let dir: string | undefined;
let shells = 0;

/** Shells that wait for their next command. */
const idle: Shell[] = [];

/** Runs a command through a shell that is kept for the next one. Node starts a process by copying the tables of
 * its own memory, which takes some 10 ms in a worker of the tests; a shell is small, and takes one.
 * @throws Error if there is no such program, the signal's reason if it was aborted */
export async function runCommand(command: Command): Promise<Ended> {
  command.signal?.throwIfAborted();
  const shell = idle.pop() ?? new Shell();
  const ended = await shell.run(command);
  idle.push(shell);
  if (ended.code === 127) throw new Error(`${command.argv[0]!} cannot be run: ${ended.stderr.toString()}`);
  return ended;
}

/** One shell, which runs one command at a time. It ends with this process, whose end closes its input. */
class Shell {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  /** Of its files, without what their names end in. */
  readonly #files: string;

  constructor() {
    dir ??= makeTempDir("shells");
    this.#files = join(dir, String(++shells));
    // A group of its own: what is to end is all of it.
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

  /** A shell that waits for a command keeps nobody from ending. */
  #setWaiting(isWaiting: boolean): void {
    const sockets = [this.#child.stdin, this.#child.stdout] as unknown as Socket[];
    for (const handle of [this.#child, ...sockets]) handle[isWaiting ? "ref" : "unref"]();
  }
}

/** A word of the shell that stands for this text. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Reads a file and removes it: the next command's is a new one, as the file system writes at once what replaces something. */
function take(path: string): Buffer {
  const bytes = readFileSync(path);
  rmSync(path);
  return bytes;
}
