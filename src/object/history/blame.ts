import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { GitError } from "../../base/format/errors.ts";
import { isTreeMode } from "../../base/format/tree.ts";
import { toHex } from "../../base/format/oid.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import { readCommits } from "../objects/commit-record.ts";
import { splitLines, isBinary } from "../../base/lines/text-lines.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, resolveCommit } from "../objects/revision.ts";
import { entryAt, type PathEntry } from "../objects/tree-path.ts";
import { checkSize } from "./blame-texts.ts";
import { type Blame, BlameWalk } from "./blame-walk.ts";
import { WorkBudget } from "../../base/pacing/work-budget.ts";
import type { BlameQuery, BlameResult, BlameRange } from "../../contract/history.ts";

/** Steps of about 20 µs: five seconds of work. Lines whose origin is not found by then are returned
 * without one, and the next request goes on from there. */
const BLAME_STEPS = 250_000;

/** Finds for the lines of a file which commits introduced them, across renames of the file.
 * @throws GitError "not-found", "wrong-type" when the path is not a file's, "too-large", "invalid"
 * when the file is binary or has fewer lines
 * @see git-blame(1) */
export async function blame(repository: OpenRepository, query: BlameQuery): Promise<BlameResult> {
  const { graph } = repository.tables;
  const revision = await resolveCommit(repository, query.commit);
  const entry = await entryAt(repository, peel(repository, revision, "tree").number, query.path);
  if (entry === null) throw new GitError("not-found", { what: "path" });
  const count = await countLines(repository, entry);
  const [first, last] = query.lines ?? [1, Math.max(count, 1)];
  if (query.lines !== null && first > count) {
    throw new GitError("invalid", { what: "lines", field: "lines", reason: `the file has only ${count} lines` });
  }
  const lines = { line: first - 1, start: first - 1, count: Math.min(last, count) - first + 1 };
  const walk = new BlameWalk(repository, new WorkBudget(BLAME_STEPS));
  const blames = await walk.run(graph.position(revision.number), query.path, lines, query.lines === null);
  const positions = [...new Set(blames.filter(({ isOpen }) => !isOpen).map(({ commit }) => commit))];
  const commits = new Map<GraphPosition, CommitRecord>();
  const numbers = positions.map((position) => graph.number(position));
  for await (const [number, commit] of readCommits(repository, numbers)) commits.set(graph.position(number), commit);
  return {
    commit: toHex(revision.oid),
    path: query.path,
    oid: toHex(entry.oid),
    ranges: blames.map((one) => toRange(one, commits)),
    commits: positions.toSorted((a, b) => graph.time(b) - graph.time(a)).map((position) => commits.get(position)!),
    truncated: blames.some(({ isOpen }) => isOpen),
  };
}

async function countLines(repository: OpenRepository, { mode, oid, number }: PathEntry): Promise<number> {
  const actual = number === 0 ? "gitlink" : isTreeMode(mode) ? "tree" : "blob";
  if (actual !== "blob") throw new GitError("wrong-type", { oid: toHex(oid), expected: "blob", actual });
  checkSize(repository, number);
  const { bytes } = await repository.reader.read(number);
  if (isBinary(bytes)) throw new GitError("invalid", { what: "path", field: "path", reason: "the file is binary" });
  return splitLines(bytes).count;
}

function toRange(
  { line, start, count, commit, path, isOpen }: Blame,
  commits: ReadonlyMap<GraphPosition, CommitRecord>,
): BlameRange {
  return {
    start: line + 1,
    count,
    commit: isOpen ? null : commits.get(commit)!.oid,
    originalStart: start + 1,
    originalPath: path,
  };
}
