import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { authorization } from "./authorization.ts";
import { runCommand } from "./shell-pool.ts";
import { makeTempDir } from "./temp-dir.ts";

/** The result of a git command. */
export interface GitResult {
  /** Exit code; 128 and above also after a signal. */
  readonly code: number;
  readonly stdout: string;
  readonly stdoutBytes: Buffer;
  readonly stderr: string;
}

/** Input of a git command besides its arguments. */
export interface GitInput {
  readonly stdin?: string | Uint8Array;
  /** Variables in addition to the isolated environment, such as `GIT_TRACE_PACKET`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Aborting it ends the command and all its child processes. */
  readonly signal?: AbortSignal | undefined;
}

let home: string | undefined;

/** The environment of git: no user configuration, fixed names and dates, no prompts, no background
 * work. */
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
    // Nothing here must outlive a power cut.
    "core.fsync": "none",
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

/** Runs git and returns the result, successful or not.
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
 * @returns its standard output without the trailing newline
 * @throws Error with its standard error if it fails */
export async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  return (await gitBytes(cwd, args)).toString().replace(/\n$/, "");
}

/** Runs git.
 * @returns the bytes of its standard output
 * @throws Error with its standard error if it fails */
export async function gitBytes(cwd: string, args: readonly string[], input: GitInput = {}): Promise<Buffer> {
  const { code, stdoutBytes, stderr } = await tryGit(cwd, args, input);
  if (code !== 0) throw new Error(`git ${args.join(" ")} ended with ${code}:\n${stderr}`);
  return stdoutBytes;
}

/** Creates an empty repository in a directory of its own.
 * @returns its path */
export async function makeRepository(name: string, ...initOptions: readonly string[]): Promise<string> {
  const dir = join(makeTempDir("repository"), name);
  mkdirSync(dir);
  await git(dir, "init", "-q", ...initOptions);
  return dir;
}

/** Every ref of a repository with its object, one per line, as printed by `for-each-ref`; for
 * comparing repositories. */
export function listRefs(dir: string): Promise<string> {
  return git(dir, "for-each-ref", "--format=%(objectname) %(refname)");
}
