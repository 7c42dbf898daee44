import { includesRight } from "../../base/access/caller.ts";
import { decodeText, encodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { fromHex, type Oid, toHex } from "../../base/format/oid.ts";
import { isSame, publish, staleRef } from "../push/publish.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit, resolveRevision, type Revision } from "../objects/revision.ts";
import type { Expected, RefRecord } from "../../contract/refs.ts";
import { HEADS, TAGS } from "../../base/format/ref-name.ts";

/** Creates a ref or moves it.
 * @param name full, pushable; byte string
 * @param target text, a revision
 * @param force also move it where commits would be lost. Without it, only fast-forwards are
 * allowed, and tags do not move
 * @throws GitError "stale" when it is not as expected, "conflict" when force is needed or its name
 * conflicts with another ref's, and as `resolveRevision` */
export async function putRef(
  repository: OpenRepository,
  { name, target, ...rules }: { name: string; target: string; expected?: Expected; force: boolean },
): Promise<RefRecord> {
  const { oid, type } = await setRef(repository, name, await resolveTarget(repository, name, target), rules);
  return { name: decodeText(name), oid: toHex(oid), type };
}

/** Deletes a ref.
 * @param name full; byte string
 * @throws GitError "not-found", "stale" when it is not as expected, "conflict" when it is the
 * default branch */
export async function deleteRef(
  repository: OpenRepository,
  { name, expected }: { name: string; expected: Expected },
): Promise<void> {
  const { refs } = repository.tables;
  const old = demandRef(repository, name);
  checkExpected(name, old, expected);
  if (refs.head() === name) {
    throw new GitError("conflict", {
      what: "deletion",
      reason: "it is the default branch; choose another default branch first",
    });
  }
  await publish(repository, [{ name, old, new: null }], []);
}

/** Renames a ref. The default branch stays the default: HEAD moves too, which only an admin may do.
 * @param from full, as `to` is; byte strings
 * @throws GitError "not-found", "stale" when it is not as expected, "conflict" when the name is
 * taken, "forbidden" */
export async function renameRef(
  repository: OpenRepository,
  { from, to, expected }: { from: string; to: string; expected: Expected },
): Promise<void> {
  const oid = demandRef(repository, from);
  checkExpected(from, oid, expected);
  checkAbsent(repository, to);
  const isDefault = repository.tables.refs.head() === from;
  if (isDefault && !includesRight(repository.requester.right, "admin")) {
    throw new GitError("forbidden", {
      what: "renaming the default branch",
      reason: "it moves HEAD, which needs the right 'admin'",
    });
  }
  // The old name is removed first: the new one may be below it.
  const moves = [
    { name: from, old: oid, new: null },
    { name: to, old: null, new: oid },
  ];
  await publish(repository, moves, [], isDefault ? { head: to } : {});
}

/** Finds the target of a ref: for a branch a commit, for other refs any object. */
export function resolveTarget(repository: OpenRepository, name: string, target: string): Promise<Revision> {
  const revision = encodeText(target);
  return name.startsWith(HEADS) ? resolveCommit(repository, revision) : resolveRevision(repository, revision);
}

/** Points a ref at an object. @see putRef */
export async function setRef(
  repository: OpenRepository,
  name: string,
  to: Revision,
  { expected, force }: { expected?: Expected; force: boolean },
): Promise<Revision> {
  const old = repository.tables.refs.get(name)?.oid ?? null;
  checkExpected(name, old, expected);
  if (isSame(old, to.oid)) return to;
  if (old !== null && !force) checkForward(repository, name, old, to);
  await publish(repository, [{ name, old, new: to.oid }], []);
  return to;
}

/** The id of a ref.
 * @throws GitError "not-found" */
export function demandRef({ tables }: OpenRepository, name: string): Oid {
  const ref = tables.refs.get(name);
  if (ref === null) throw new GitError("not-found", { what: "ref", reason: decodeText(name) });
  return ref.oid;
}

/** @throws GitError "conflict" when the ref exists */
export function checkAbsent({ tables }: OpenRepository, name: string): void {
  if (tables.refs.get(name) === null) return;
  throw new GitError("conflict", { what: "name", reason: `${decodeText(name)} already exists` });
}

/** @throws GitError "stale" when a ref is not as expected */
export function checkExpected(name: string, actual: Oid | null, expected: Expected): void {
  if (expected === undefined) return;
  const oid = expected === null ? null : fromHex(expected);
  if (!isSame(actual, oid)) throw staleRef(name, oid, actual);
}

/** @throws GitError "conflict" when a ref cannot move without force */
export function checkForward(repository: OpenRepository, name: string, old: Oid, to: Revision): void {
  const { graph } = repository.tables;
  const [from, next] = [graph.position(repository.numberOf(old)), graph.position(to.number)];
  const isForward = !name.startsWith(TAGS) && from >= 0 && next >= 0 && graph.isAncestor(from, next);
  if (isForward) return;
  const reason = name.startsWith(TAGS) ? "a tag does not move" : "it is not a fast-forward";
  throw new GitError("conflict", { what: "move", reason: `${reason}; set force to move it anyway` });
}
