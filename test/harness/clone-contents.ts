import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "./git.ts";

/** What a client's repository contains, and its shallow boundary. */
export interface CloneContents {
  readonly refs: string;
  /** Ids, sorted; with a `?` before those that are fetched on demand. */
  readonly objects: string[];
  /** Ids of its shallow commits, sorted. */
  readonly shallow: string[];
  /** Problems found by `git fsck`. */
  readonly fsck: string;
}

/** Inspects a client's repository without fetching anything. */
export async function readClone(dir: string): Promise<CloneContents> {
  const [refs, listed, fsck] = await Promise.all([
    git(dir, "for-each-ref", "--format=%(objectname) %(refname)"),
    git(dir, "rev-list", "--objects", "--no-object-names", "--all", "--missing=print"),
    git(dir, "fsck", "--full", "--no-dangling", "--no-progress"),
  ]);
  const shallow = join(await git(dir, "rev-parse", "--absolute-git-dir"), "shallow");
  return {
    refs,
    objects: listed.split("\n").toSorted(),
    shallow: existsSync(shallow) ? readFileSync(shallow, "utf8").trim().split("\n").toSorted() : [],
    fsck,
  };
}
