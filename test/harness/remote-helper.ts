import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { delimiter, join } from "node:path";
import { bundleProgram, PROGRAMS, type ProgramName } from "../../scripts/build-helper.ts";
import { type GitInput, type GitResult, tryGit } from "./git.ts";
import type { Server } from "./server.ts";
import { makeTempDir } from "./temp-dir.ts";

let dir: Promise<string> | undefined;

/** How a push is cut, by the names of git's configuration below `holdfast.`. */
export type HelperConfig = Partial<
  Record<"plainObjects" | "plainBytes" | "stepObjects" | "stepBytes" | "partBytes", number>
>;

/** Gives a server a processor of its own, which this process leaves to it, and the helper the time
 * that nobody else wants of the others: a client is on another machine than its server.
 * @param outside process ids of what is on other machines as well
 * @returns for `GitInput.env`
 * @throws Error if there is only one processor */
export function keepApart({ pid }: Pick<Server, "pid">, outside: readonly number[] = []): Record<string, string> {
  const last = cpus().length - 1;
  if (last === 0) throw new Error("a server and its client need two processors");
  execFileSync("taskset", ["-acp", "0", String(pid)]);
  for (const id of [process.pid, ...outside]) execFileSync("taskset", ["-acp", `1-${last}`, String(id)]);
  return { ASIDE: `nice -n 19 taskset -c 1-${last}` };
}

/** Runs git with `git-remote-holdfast` on its PATH. */
export async function tryHelper(
  cwd: string,
  args: readonly string[],
  config: HelperConfig = {},
  input: GitInput = {},
): Promise<GitResult> {
  const settings = Object.entries(config).flatMap(([name, value]) => ["-c", `holdfast.${name}=${value}`]);
  const path = input.env?.["PATH"] ?? process.env["PATH"];
  const env = { ...input.env, PATH: `${await helperDir()}${delimiter}${path}` };
  return tryGit(cwd, [...settings, ...args], { ...input, env });
}

/** The folder that both helpers are in, each as the one file that users have. */
export function helperDir(): Promise<string> {
  return (dir ??= makeHelpers());
}

async function makeHelpers(): Promise<string> {
  const made = makeTempDir("bin");
  for (const name of Object.keys(PROGRAMS) as ProgramName[]) {
    const path = join(made, name);
    const program = `${path}.cjs`;
    writeFileSync(program, (await bundleProgram(name)).text);
    writeFileSync(path, `#!/bin/sh\nexec $ASIDE "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(path, 0o755);
  }
  return made;
}
