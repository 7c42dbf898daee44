import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, tryGit } from "./git.ts";
import { makeTempDir } from "./temp-dir.ts";

/** Runs a git command that fetches.
 * @returns number of objects in the received pack; 0: there was none
 * @throws Error with git's standard error if it fails */
export async function countReceived(dir: string, ...args: readonly string[]): Promise<number> {
  const trace = join(makeTempDir("trace"), "received.pack");
  writeFileSync(trace, "");
  const { code, stderr } = await tryGit(dir, args, { env: { GIT_TRACE_PACKFILE: trace } });
  if (code !== 0) throw new Error(`git ${args.join(" ")} ended with ${code}:\n${stderr}`);
  const received = readFileSync(trace);
  return received.length === 0 ? 0 : received.readUInt32BE(8);
}

/** The ids reachable from some revisions, including trees and blobs. */
export async function listReachable(dir: string, ...revisions: readonly string[]): Promise<Set<string>> {
  const listed = await git(dir, "rev-list", "--objects", "--no-object-names", ...revisions);
  return new Set(listed.split("\n").filter((line) => line !== ""));
}

/** How many objects a fetch must send: those reachable from `wanted` and not from `had`. (`rev-list
 * A..B` lists more, since it does not examine everything reachable from A.) */
export async function countMissing(dir: string, wanted: readonly string[], had: readonly string[]): Promise<number> {
  const present = had.length === 0 ? new Set<string>() : await listReachable(dir, ...had);
  return [...(await listReachable(dir, ...wanted))].filter((oid) => !present.has(oid)).length;
}
