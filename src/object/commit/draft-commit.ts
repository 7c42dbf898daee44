import { formatMode } from "../../base/format/tree.ts";
import { decodeText, encodeText, fromByteString } from "../../base/format/byte-string.ts";
import { encodeCommit } from "../../base/format/commit.ts";
import { GitError } from "../../base/format/errors.ts";
import { COMMIT } from "../../base/format/object.ts";
import { equalOids, fromHex, isHexOid, type Oid, toHex } from "../../base/format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { mergeConflict } from "../merge/merge-conflict.ts";
import { mergeTrees } from "../merge/merge-trees.ts";
import { resolveCommit, revisionOf } from "../objects/revision.ts";
import { keptRoot } from "../objects/tree-contents.ts";
import type { BranchDraft, MadeCommit } from "./branch-draft.ts";
import type { CommitAnswer, CommitKind, CommitRequest } from "../../contract/commits.ts";
import { NewObjects } from "../push/new-objects.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import { applyOperations, pathsOf } from "./operation.ts";
import { isSame, staleRef } from "../push/publish.ts";
import { TreeDraft } from "./tree-draft.ts";
import { HEADS } from "../../base/format/ref-name.ts";

/** A commit made for a branch but not published yet. */
interface DraftedCommit {
  /** The response once it is published. */
  readonly answer: CommitAnswer;
  /** Null: no commit, as nothing changes. */
  readonly made: MadeCommit | null;
}

/** Makes a commit on top of a branch's tip, stored or drafted.
 * @throws GitError @see commit */
export function draftCommit(
  repository: OpenRepository,
  request: CommitRequest,
  branch: BranchDraft,
): Promise<DraftedCommit> {
  return new Drafting(repository, request, branch).run();
}

class Drafting {
  readonly #repository: OpenRepository;
  readonly #request: CommitRequest;
  readonly #branch: BranchDraft;
  readonly #objects: NewObjects;

  constructor(repository: OpenRepository, request: CommitRequest, branch: BranchDraft) {
    this.#repository = repository;
    this.#request = request;
    this.#branch = branch;
    this.#objects = new NewObjects(repository.state.platform.codec, branch.objects);
  }

  async run(): Promise<DraftedCommit> {
    const tip = this.#branch.tip ?? (await this.#findStart());
    const base = await this.#findBase(tip);
    const isMoved = !isSame(base, tip);
    const was = tip && this.#treeOf(tip);
    const tree = await (isMoved ? this.#mergeOnto(was, base) : this.#change(was));
    const parents = tip === null ? [] : [tip];
    if (was !== null && equalOids(tree, was) && !this.#request.allowEmpty) {
      return { answer: await this.#answer("unchanged", tip!, tree, parents), made: null };
    }
    const oid = this.#objects.add("commit", this.#encode(tree, parents));
    const answer = await this.#answer(isMoved ? "rebased" : "fast-forward", oid, tree, parents);
    return { answer, made: { oid, tree, parent: tip, objects: this.#objects.all() } };
  }

  /** The commit where a missing branch starts; null: with no commit. */
  async #findStart(): Promise<Oid | null> {
    const { startPoint, branch } = this.#request;
    if (startPoint !== null) return (await resolveCommit(this.#repository, encodeText(startPoint))).oid;
    const { refs } = this.#repository.tables;
    if (refs.head() === this.#branch.ref || refs.withPrefixes([HEADS]).names.length === 0) return null;
    throw new GitError("not-found", { what: "branch", field: "branch", reason: decodeText(branch) });
  }

  /** The commit that the change was made for; null: none.
   * @throws GitError "stale" when the branch has moved since and the request does not allow that */
  async #findBase(tip: Oid | null): Promise<Oid | null> {
    const { base, onConflict } = this.#request;
    if (base === null || (tip !== null && base === toHex(tip))) return tip;
    const oid =
      this.#findAncestor(base, this.#branch.storedTip(tip)) ??
      (await resolveCommit(this.#repository, encodeText(base))).oid;
    if (!isSame(oid, tip) && (tip === null || onConflict === "fail")) throw staleRef(this.#request.branch, oid, tip);
    return oid;
  }

  /** Finds an ancestor of the tip by its full id. Anything else is resolved as a revision by the
   * caller.
   * @param tip the newest stored commit */
  #findAncestor(base: string, tip: Oid | null): Oid | null {
    if (!isHexOid(base)) return null;
    const oid = fromHex(base);
    if (this.#branch.treeOf(oid) !== undefined) return oid;
    if (tip === null) return null;
    const { graph, objects } = this.#repository.tables;
    const found = objects.find(oid);
    if (found?.type !== COMMIT) return null;
    const position = graph.position(found.number);
    return position >= 0 && graph.isAncestor(position, graph.position(this.#branch.numberOf(tip))) ? oid : null;
  }

  /** Applies the operations to a tree.
   * @param objects receives the new objects
   * @returns the resulting tree */
  async #change(tree: Oid | null, objects = this.#objects): Promise<Oid> {
    const draft = await TreeDraft.open(this.#repository, objects, tree);
    await applyOperations(draft, this.#request.operations);
    return draft.write() ?? objects.add("tree", new Uint8Array(0));
  }

  /** Applies the change, made for the base, to a tree that has moved since. */
  async #mergeOnto(tree: Oid | null, base: Oid | null): Promise<Oid> {
    const was = this.#treeOf(base!);
    if (!(await this.#isTouched(was, tree!))) return this.#change(tree);
    const made = new NewObjects(this.#repository.state.platform.codec, this.#objects);
    const theirs = await this.#change(was, made);
    const labels = { ours: this.#request.branch, theirs: "the change" };
    const merged = await mergeTrees(this.#repository, { base: was, ours: tree, theirs }, labels, made);
    if (merged.kind === "conflicts") throw mergeConflict("change", merged.conflicts);
    for (const object of merged.newObjects) this.#objects.addKnown(object);
    return merged.tree;
  }

  /** Whether two trees differ at a path that the change names. */
  async #isTouched(before: Oid, after: Oid): Promise<boolean> {
    const was = await TreeDraft.open(this.#repository, this.#objects, before);
    const is = await TreeDraft.open(this.#repository, this.#objects, after);
    const slice = new TimeSlice();
    for (const path of new Set(this.#request.operations.flatMap(pathsOf))) {
      await slice.pause();
      const oid = await findOid(was, path);
      if (oid === "blocked" || oid !== (await findOid(is, path))) return true;
    }
    return false;
  }

  #encode(tree: Oid, parents: readonly Oid[]): Uint8Array {
    const { author, committer, message } = this.#request;
    return encodeCommit({ tree, parents, author, committer, extraHeaders: [], message: fromByteString(message) });
  }

  #treeOf(commit: Oid): Oid {
    const known = this.#branch.treeOf(commit) ?? keptRoot(commit);
    if (known !== undefined) return known;
    const { graph } = this.#repository.tables;
    return revisionOf(this.#repository, graph.tree(graph.position(this.#repository.numberOf(commit)))).oid;
  }

  async #answer(kind: CommitKind, oid: Oid, tree: Oid, parents: readonly Oid[]): Promise<CommitAnswer> {
    const draft = await TreeDraft.open(this.#repository, this.#objects, tree);
    const files: CommitAnswer["files"][number][] = [];
    const slice = new TimeSlice();
    for (const path of new Set(this.#request.operations.flatMap(pathsOf))) {
      await slice.pause();
      const entry = await draft.find(path.split("/"));
      const there = entry !== null && entry !== "blocked" && entry.kind === "object" ? entry : null;
      files.push({
        path: decodeText(path),
        mode: there && formatMode(there.mode),
        oid: there && toHex(there.oid),
      });
    }
    return {
      kind,
      branch: decodeText(this.#request.branch),
      commit: toHex(oid),
      tree: toHex(tree),
      parents: parents.map((parent) => toHex(parent)),
      files,
    };
  }
}

/** The entry at a path, as text for comparison. */
async function findOid(draft: TreeDraft, path: string): Promise<string> {
  const entry = await draft.find(path.split("/"));
  if (entry === null || entry === "blocked") return entry ?? "nothing";
  return entry.kind === "directory" ? "directory" : `${entry.mode} ${toHex(entry.oid)}`;
}
