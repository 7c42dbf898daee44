/** The changed-path filters that git itself makes. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "./git.ts";

const OID_BYTES = 20;
const HEADER_BYTES = 8;
const ROW_BYTES = 12;

/** Has git make the filters of all commits that refs reach, anew.
 * @param dir a bare repository
 * @returns by commit, both in hex
 * @see gitformat-commit-graph(5) */
export async function readGitFilters(dir: string): Promise<Map<string, string>> {
  const path = join(dir, "objects/info/commit-graph");
  rmSync(path, { force: true });
  // Older versions of git have version 1 alone: the same but for bytes above 0x7f.
  await git(dir, "-c", "commitGraph.changedPathsVersion=2", "commit-graph", "write", "--reachable", "--changed-paths");
  const file = readFileSync(path);
  const chunks = new Map<string, number>();
  for (let i = 0; i < file[6]!; i++) {
    const at = HEADER_BYTES + ROW_BYTES * i;
    chunks.set(file.toString("latin1", at, at + 4), Number(file.readBigUInt64BE(at + 4)));
  }
  const count = file.readUInt32BE(chunks.get("OIDF")! + 255 * 4);
  const data = chunks.get("BDAT")! + ROW_BYTES;
  const filters = new Map<string, string>();
  for (let i = 0, start = 0; i < count; i++) {
    const oidAt = chunks.get("OIDL")! + OID_BYTES * i;
    const end = file.readUInt32BE(chunks.get("BIDX")! + 4 * i);
    filters.set(file.toString("hex", oidAt, oidAt + OID_BYTES), file.toString("hex", data + start, data + end));
    start = end;
  }
  return filters;
}
