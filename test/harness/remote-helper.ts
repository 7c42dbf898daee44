import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { type GitInput, type GitResult, tryGit } from "./git.ts";
import { makeTempDir } from "./temp-dir.ts";

/** The helpers, by the names that git and git-lfs find them by. */
const PROGRAMS = { "git-remote-holdfast": "main.ts", "git-lfs-holdfast": "lfs-main.ts" };

let dir: string | undefined;

/** How a push is cut, by the names of git's configuration below `holdfast.`. */
export type HelperConfig = Partial<
  Record<"plainObjects" | "plainBytes" | "stepObjects" | "stepBytes" | "partBytes", number>
>;

/** Runs git with `git-remote-holdfast` on its PATH. */
export function tryHelper(
  cwd: string,
  args: readonly string[],
  config: HelperConfig = {},
  input: GitInput = {},
): Promise<GitResult> {
  const settings = Object.entries(config).flatMap(([name, value]) => ["-c", `holdfast.${name}=${value}`]);
  const path = input.env?.["PATH"] ?? process.env["PATH"];
  const env = { ...input.env, PATH: `${helperDir()}${delimiter}${path}` };
  return tryGit(cwd, [...settings, ...args], { ...input, env });
}

/** The folder that both helpers are in. */
export function helperDir(): string {
  if (dir !== undefined) return dir;
  dir = makeTempDir("bin");
  for (const [name, main] of Object.entries(PROGRAMS)) {
    const path = join(dir, name);
    const program = resolve(import.meta.dirname, "../../src/helper", main);
    writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(path, 0o755);
  }
  return dir;
}
