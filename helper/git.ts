import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable, type Writable } from "node:stream";

/** A running git command. */
export interface RunningGit {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Fulfilled when the command has succeeded.
   * @throws Error when it has failed */
  readonly ended: Promise<void>;
  /** Stops the command, if it still runs. */
  stop(): void;
}

/** Number of lines that are passed to a command at once. */
const LINES_PER_WRITE = 1_000;

/** Starts git. Its standard error goes to the user. */
export function startGit(args: readonly string[]): RunningGit {
  // Without this, rev-list would write each commit to a pipe separately.
  const env = { ...process.env, GIT_FLUSH: "0" };
  const child = spawn("git", args, { stdio: ["pipe", "pipe", "inherit"], env });
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`git ${args[0]} ended with ${code ?? signal}`));
    });
  });
  // Callers that await it get the error; until then it is not unhandled.
  ended.catch(() => undefined);
  // A command that fails closes its input.
  child.stdin.on("error", () => undefined);
  return { stdin: child.stdin, stdout: child.stdout, ended, stop: () => child.kill() };
}

/** Writes a command's whole input, as lines. */
export function writeLines({ stdin }: RunningGit, lines: Iterable<string>): void {
  const texts = function* (): Generator<string> {
    let held: string[] = [];
    for (const line of lines) {
      held.push(line);
      if (held.length < LINES_PER_WRITE) continue;
      yield `${held.join("\n")}\n`;
      held = [];
    }
    if (held.length > 0) yield `${held.join("\n")}\n`;
  };
  Readable.from(texts()).pipe(stdin);
}

/** Runs a command.
 * @returns its output
 * @throws Error unless it succeeded */
export async function git(args: readonly string[], input: Iterable<string> = []): Promise<string> {
  const child = startGit(args);
  writeLines(child, input);
  const pieces: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
  await child.ended;
  return Buffer.concat(pieces).toString();
}

/** Yields the lines of a command's output as they arrive.
 * @throws Error unless it succeeded */
export async function* linesOf(child: RunningGit): AsyncGenerator<string> {
  yield* createInterface({ input: child.stdout, crlfDelay: Infinity });
  await child.ended;
}

/** Yields the lines of a command's output in batches as they arrive: hundreds of thousands one by
 * one would take seconds.
 * @throws Error unless it succeeded */
export async function* batchesOf(child: RunningGit): AsyncGenerator<readonly string[], void, void> {
  let rest = "";
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    const lines = (rest + piece.toString("latin1")).split("\n");
    rest = lines.pop()!;
    yield lines;
  }
  await child.ended;
}

/** Objects, and their stored bytes. */
export interface Totals {
  readonly objects: number;
  readonly bytes: number;
}

/** Reads the totals of this repository; null: unknown, since a part of it is elsewhere. */
export async function readTotals(): Promise<Totals | null> {
  const lines = (await git(["count-objects", "-v"])).split("\n").map((line) => line.split(": ") as [string, string]);
  if (lines.some(([name]) => name === "alternate")) return null;
  const counts = new Map(lines.map(([name, value]) => [name, Number(value)]));
  const sum = (...names: readonly string[]): number => names.reduce((total, name) => total + counts.get(name)!, 0);
  return { objects: sum("count", "in-pack"), bytes: 1024 * sum("size", "size-pack") };
}

/** Reads a configuration variable for a URL; null: not set. */
export async function readConfig(name: string, url: string): Promise<string | null> {
  try {
    return (await git(["config", "--get-urlmatch", name, url])).replace(/\n$/, "");
  } catch {
    // git exits with 1 when the variable is not set.
    return null;
  }
}

/** Reads a number from the configuration, with git's suffixes k, m and g.
 * @throws Error when it is not a number, or below 1 */
export async function readSize(name: string, fallback: number, most: number): Promise<number> {
  let text: string;
  try {
    text = await git(["config", "--type=int", "--default", String(fallback), "--get", name]);
  } catch {
    throw new Error(`${name} must be a number`);
  }
  if (Number(text) < 1) throw new Error(`${name} must be at least 1`);
  return Math.min(Number(text), most);
}

/** Returns the ids whose objects are in this repository. */
export async function findLocal(oids: Iterable<string>): Promise<string[]> {
  const checked = await git(["cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer"], new Set(oids));
  return checked
    .split("\n")
    .filter((line) => line !== "" && !line.endsWith(" missing"))
    .map((line) => line.slice(0, line.indexOf(" ")));
}
