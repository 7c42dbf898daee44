import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { LF, decodeText, toByteString } from "../../base/format/byte-string.ts";
import { type Commit, encodeCommit } from "../../base/format/commit.ts";
import { GitError } from "../../base/format/errors.ts";
import { MAX_LISTED_PARENTS } from "../../base/format/shown-limits.ts";
import { equalOids, fromHex, type Oid, toHex } from "../../base/format/oid.ts";
import type { NewObject, NewObjects } from "../push/new-objects.ts";
import { checkForwardMove, publish, staleRef } from "../push/publish.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { revisionOf } from "../objects/revision.ts";
import type { BranchRequest, BranchAnswer } from "../../contract/merges.ts";
import { HEADS } from "../../base/format/ref-name.ts";

/** The tip of a branch. */
export class BranchTip {
  readonly #repository: OpenRepository;
  readonly #request: BranchRequest;
  readonly #merged: Oid | null;
  readonly oid: Oid;
  /** In the graph. */
  readonly position: GraphPosition;

  /** The full name of a branch. */
  static refOf({ branch }: BranchRequest): string {
    return HEADS + branch;
  }

  /** @param field of the request, that names the branch
   * @param merged the commit that is merged or picked into the branch; null: none is
   * @throws GitError "not-found" when the branch does not exist, "stale" when its tip is not the
   * expected one */
  constructor(repository: OpenRepository, request: BranchRequest, field: string, merged: Oid | null) {
    const { branch, expected } = request;
    const { refs, graph } = repository.tables;
    const oid = refs.get(BranchTip.refOf(request))?.oid;
    if (oid === undefined) throw new GitError("not-found", { what: "branch", field, reason: decodeText(branch) });
    if (expected !== null && expected !== toHex(oid)) throw staleRef(branch, fromHex(expected), oid);
    this.#repository = repository;
    this.#request = request;
    this.#merged = merged;
    this.oid = oid;
    this.position = graph.position(repository.numberOf(oid));
  }

  /** The tree of a commit.
   * @param position in the graph */
  treeOf(position: GraphPosition): Oid {
    return revisionOf(this.#repository, this.#repository.tables.graph.tree(position)).oid;
  }

  /** Adds a new commit to the branch.
   * @param newObjects the objects that its tree reaches and the repository lacks
   * @throws GitError as `publish` */
  async commit<Kind extends string>(
    kind: Kind,
    commit: Commit,
    made: NewObjects,
    newObjects: readonly NewObject[],
  ): Promise<BranchAnswer<Kind>> {
    const oid = made.add("commit", encodeCommit(commit));
    await this.#move(oid, [...newObjects, made.find(oid)!]);
    const shown = this.#request.isDryRun ? null : toHex(oid);
    return this.#answer(kind, shown, commit.tree, commit.parents);
  }

  /** Moves the branch to an existing commit, if it is elsewhere.
   * @param position in the graph
   * @throws GitError as `publish` */
  async moveTo<Kind extends string>(kind: Kind, position: GraphPosition): Promise<BranchAnswer<Kind>> {
    const { graph } = this.#repository.tables;
    const oidAt = (at: number): Oid => revisionOf(this.#repository, graph.number(at)).oid;
    const oid = oidAt(position);
    const all = graph.parents(position);
    const parents = Array.from(all.subarray(0, MAX_LISTED_PARENTS), oidAt);
    if (!equalOids(oid, this.oid)) await this.#move(oid, []);
    const answer = this.#answer(kind, toHex(oid), this.treeOf(position), parents);
    return parents.length < all.length ? { ...answer, parentsTruncated: true } : answer;
  }

  async #move(oid: Oid, objects: readonly NewObject[]): Promise<void> {
    const name = BranchTip.refOf(this.#request);
    const merged = this.#merged;
    if (this.#request.isDryRun) checkForwardMove(this.#repository, name, merged);
    else
      await publish(this.#repository, [{ name, old: this.oid, new: oid }], objects, merged === null ? {} : { merged });
  }

  #answer<Kind extends string>(kind: Kind, commit: string | null, tree: Oid, parents: readonly Oid[]) {
    return {
      kind,
      branch: decodeText(this.#request.branch),
      commit,
      tree: toHex(tree),
      parents: parents.map((parent) => toHex(parent)),
      dryRun: this.#request.isDryRun,
    };
  }
}

/** Bytes of a first line that a new message repeats. */
const MAX_SUBJECT_BYTES = 4_096;

const BLANKS: ReadonlySet<number> = new Set(Buffer.from(" \t\n\v\f\r"));

/** The first line of a commit's message, byte string; of a very long one its beginning, and
 * dots. */
export function subjectOf({ message }: Pick<Commit, "message">): string {
  const start = message.findIndex((byte) => !BLANKS.has(byte));
  if (start === -1) return "";
  const lf = message.indexOf(LF, start);
  const end = lf === -1 ? message.length : lf;
  if (end - start <= MAX_SUBJECT_BYTES) return toByteString(message.subarray(start, end));
  return `${toByteString(message.subarray(start, start + MAX_SUBJECT_BYTES))}...`;
}
