import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { type GitInput, type GitResult, tryGit } from "./git.ts";
import { makeTempDir } from "./temp-dir.ts";

const MAIN = resolve(import.meta.dirname, "../../src/helper/main.ts");

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
  const env = { PATH: `${binDir()}${delimiter}${process.env["PATH"]}`, ...input.env };
  return tryGit(cwd, [...settings, ...args], { ...input, env });
}

function binDir(): string {
  if (dir === undefined) {
    dir = makeTempDir("bin");
    const path = join(dir, "git-remote-holdfast");
    writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
    chmodSync(path, 0o755);
  }
  return dir;
}
