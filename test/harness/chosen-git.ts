/** Another git than the one on PATH, which may be too old for a test: the variable HOLDFAST_GIT is
 * its path. */
import { dirname } from "node:path";
import { tryGit } from "./git.ts";

/** That git, or the one on PATH. */
export interface ChosenGit {
  /** Makes `tryGit` run it. */
  readonly env: Readonly<Record<string, string>>;
  /** As it reports: `git version 2.39.5`. */
  readonly version: string;
  readonly isAtLeast: (major: number, minor: number) => boolean;
}

/** Finds the git and asks for its version. */
export async function chooseGit(): Promise<ChosenGit> {
  const path = process.env["HOLDFAST_GIT"];
  const env: Record<string, string> =
    path === undefined ? {} : { PATH: `${dirname(path)}:${process.env["PATH"] ?? ""}` };
  const version = (await tryGit(".", ["version"], { env })).stdout.trim();
  const [ownMajor = 0, ownMinor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  return {
    env,
    version,
    isAtLeast: (major, minor) => ownMajor > major || (ownMajor === major && ownMinor >= minor),
  };
}
