import { GitError } from "../../base/format/errors.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { announceNow } from "./announce.ts";
import { concatOids, type Oid, toHex } from "../../base/format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { Ref } from "../store/refs/refs.ts";
import { scheduleAllWorktrees } from "../worktree/worktrees.ts";
import { toIsoDate } from "../../base/format/ident.ts";
import { type AheadBehind, aheadBehind } from "../history/ahead-behind.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import { checkAbsent, demandRef, renameRef, resolveTarget, setRef } from "./move-ref.ts";
import type { Expected, BranchRecord } from "../../contract/refs.ts";
import { HEADS } from "../../base/format/ref-name.ts";

/** One page of branches, in the order of their names.
 * @param after the page starts after this name, null: at the beginning; byte string
 * @returns the last name of the page, null: there are no more; byte string */
export async function branches(
  repository: OpenRepository,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ branches: BranchRecord[]; next: string | null }> {
  const found = repository.tables.refs.page(HEADS, after && HEADS + after, limit + 1);
  const page = found.slice(0, limit);
  const records = await describeBranches(repository, page);
  return { branches: records, next: found.length > limit ? page.at(-1)!.name.slice(HEADS.length) : null };
}

/** One branch.
 * @param name without `refs/heads/`, byte string
 * @throws GitError "not-found" */
export async function branch(repository: OpenRepository, name: string): Promise<BranchRecord> {
  const [record] = await describeBranches(repository, [
    { name: HEADS + name, oid: demandRef(repository, HEADS + name) },
  ]);
  return record!;
}

/** Creates a branch.
 * @param name without `refs/heads/`, byte string
 * @param startPoint text, a revision
 * @throws GitError "conflict" when it already exists, or its name conflicts with another ref's; as
 * `resolveCommit` */
export async function createBranch(
  repository: OpenRepository,
  { name, startPoint }: { name: string; startPoint: string },
): Promise<BranchRecord> {
  const full = HEADS + name;
  const commit = await resolveTarget(repository, full, startPoint);
  checkAbsent(repository, full);
  await setRef(repository, full, commit, { expected: null, force: false });
  return branch(repository, name);
}

/** Moves a branch. @see putRef */
export async function moveBranch(
  repository: OpenRepository,
  { name, target, ...rules }: { name: string; target: string; expected?: Expected; force: boolean },
): Promise<BranchRecord> {
  const full = HEADS + name;
  const commit = await resolveTarget(repository, full, target);
  demandRef(repository, full);
  await setRef(repository, full, commit, rules);
  return branch(repository, name);
}

/** Renames a branch. The default branch stays the default.
 * @param name without `refs/heads/`, byte string, as `newName` is
 * @throws GitError "not-found", "stale" when it is not as expected, "conflict" when the name is
 * taken */
export async function renameBranch(
  repository: OpenRepository,
  { name, newName, expected }: { name: string; newName: string; expected?: Expected },
): Promise<BranchRecord> {
  await renameRef(repository, { from: HEADS + name, to: HEADS + newName, expected });
  return branch(repository, newName);
}

/** Branches as they are shown.
 * @param page full names */
export async function describeBranches(
  { tables }: OpenRepository,
  page: readonly Pick<Ref, "name" | "oid">[],
): Promise<BranchRecord[]> {
  const { refs, objects, graph } = tables;
  const head = refs.head();
  const positionsOf = (oids: readonly Oid[]): number[] =>
    Array.from(objects.lookupMany(concatOids(oids)).number, (number) => graph.position(number));
  const base = head === null ? null : refs.get(head);
  const basePosition = base === null ? null : positionsOf([base.oid])[0]!;
  const slice = new TimeSlice();
  const records: BranchRecord[] = [];
  for (const [i, position] of positionsOf(page.map(({ oid }) => oid)).entries()) {
    const { name, oid } = page[i]!;
    const [apart] = basePosition === null ? [NOT_COUNTED] : aheadBehind(graph, basePosition, [position]);
    records.push({
      name: decodeText(name.slice(HEADS.length)),
      commit: toHex(oid),
      committed: toIsoDate(graph.time(position), "+0000"),
      isDefault: name === head,
      ...apart!,
    });
    await slice.pause();
  }
  return records;
}

const NOT_COUNTED: { readonly [Key in keyof AheadBehind]: null } = { ahead: null, behind: null };

/** Checks that a branch may become the default: it exists, or no branch does.
 * @param branch without `refs/heads/`, byte string
 * @throws GitError "invalid" when it may not */
export async function checkDefaultBranch({ tables }: OpenRepository, branch: string): Promise<void> {
  const { refs } = tables;
  if (refs.get(HEADS + branch) === null && refs.withPrefixes([HEADS]).names.length > 0) {
    throw new GitError("invalid", {
      what: "default branch",
      field: "defaultBranch",
      reason: "the branch does not exist",
    });
  }
}

/** Points HEAD at another branch. @see checkDefaultBranch */
export async function setDefaultBranch(repository: OpenRepository, branch: string): Promise<void> {
  await checkDefaultBranch(repository, branch);
  const { state } = repository;
  state.transact(null, (tables) => {
    tables.refs.setHead(HEADS + branch);
    scheduleAllWorktrees(tables, state.platform.worktrees, Date.now());
    return { result: undefined, isKept: true };
  });
  state.scheduleJobs();
  await announceNow(state);
}
