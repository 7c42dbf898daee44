import { createHash } from "node:crypto";
import { git } from "../harness/git.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** The one repository of each data folder. */
export const REPOSITORY = "kept/repo";

/** What a repository holds, as stock git sees it. */
export interface Contents {
  /** Lines of `git ls-remote`. */
  readonly refs: readonly string[];
  /** How many objects its refs reach, and the SHA-1 of their sorted ids. */
  readonly objects: number;
  readonly digest: string;
}

/** Clones a repository, has git check it, and says what is in it. */
export async function describeRepository(remote: string): Promise<Contents> {
  const dir = makeTempDir("contents");
  await git(dir, "clone", "--quiet", "--mirror", remote, ".");
  await git(dir, "fsck", "--strict");
  const ids = (await git(dir, "rev-list", "--objects", "--all", "--no-object-names")).trim().split("\n").toSorted();
  const digest = createHash("sha1").update(ids.join("\n")).digest("hex");
  return { refs: (await git(dir, "ls-remote", remote)).trim().split("\n"), objects: ids.length, digest };
}
