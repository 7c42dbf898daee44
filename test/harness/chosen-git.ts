/** A git of one's own choice, for what the one on PATH may be too old for: the variable HOLDFAST_GIT is its path. */
import { dirname } from "node:path";
import { tryGit } from "./git.ts";

/** That git, or the one on PATH. */
export interface ChosenGit {
  /** Has `tryGit` run it. */
  readonly env: Readonly<Record<string, string>>;
  /** As it tells: `git version 2.39.5`. */
  readonly version: string;
  readonly isAtLeast: (major: number, minor: number) => boolean;
}

/** Finds it, and asks it what it is. */
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
