import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { authorization } from "./authorization.ts";
import { runCommand } from "./shell-pool.ts";
import { makeTempDir } from "./temp-dir.ts";

/** How a git command ended. */
export interface GitResult {
  /** Its exit code; 128 and above also for an end by a signal. */
  readonly code: number;
  readonly stdout: string;
  readonly stdoutBytes: Buffer;
  readonly stderr: string;
}

/** What a git command is given besides its arguments. */
export interface GitInput {
  readonly stdin?: string | Uint8Array;
  /** Variables over the isolated environment, such as `GIT_TRACE_PACKET`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the command, and whatever it started, when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

let home: string | undefined;

/** The environment git runs in: nobody's configuration, fixed names and dates, no prompts, no work in the background. */
export function gitEnv(): Record<string, string> {
  home ??= makeTempDir("home");
  const person = (role: string): Record<string, string> => ({
    [`GIT_${role}_NAME`]: "Ada Example",
    [`GIT_${role}_EMAIL`]: "ada@example.com",
    [`GIT_${role}_DATE`]: "1700000000 +0100",
  });
  const config = {
    "init.defaultBranch": "main",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "advice.detachedHead": "false",
    ...Object.fromEntries(
      Object.entries(authorization()).map(([name, value]) => ["http.extraHeader", `${name}: ${value}`]),
    ),
  };
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    TZ: "UTC",
    LC_ALL: "C",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    ...person("AUTHOR"),
    ...person("COMMITTER"),
    GIT_CONFIG_COUNT: String(Object.keys(config).length),
    ...Object.fromEntries(
      Object.entries(config).flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** Runs git and tells how it ended, well or not.
 * @throws Error if there is no git to run, the signal's reason if it was aborted */
export async function tryGit(cwd: string, args: readonly string[], input: GitInput = {}): Promise<GitResult> {
  const { code, stdout, stderr } = await runCommand({
    argv: ["git", ...args],
    cwd,
    env: { ...gitEnv(), ...input.env },
    stdin: input.stdin ?? "",
    signal: input.signal,
  });
  return { code, stdout: stdout.toString(), stdoutBytes: stdout, stderr: stderr.toString() };
}

/** Runs git.
 * @returns its standard output without the newline at the end
 * @throws Error with its standard error if it fails */
export async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await tryGit(cwd, args);
  if (code !== 0) throw new Error(`git ${args.join(" ")} ended with ${code}:\n${stderr}`);
  return stdout.replace(/\n$/, "");
}

/** Makes an empty repository in a folder of its own.
 * @returns its path */
export async function makeRepository(name: string, ...initOptions: readonly string[]): Promise<string> {
  const dir = join(makeTempDir("repository"), name);
  mkdirSync(dir);
  await git(dir, "init", "-q", ...initOptions);
  return dir;
}

/** Every ref of a repository with its object, one a line, as `for-each-ref` prints them; for comparing two. */
export function listRefs(dir: string): Promise<string> {
  return git(dir, "for-each-ref", "--format=%(objectname) %(refname)");
}
