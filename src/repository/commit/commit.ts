import { maskRefused } from "../../codec/fsck-messages.ts";
import { decodeText, encodeText, fromByteString } from "../../format/byte-string.ts";
import { encodeCommit } from "../../format/commit.ts";
import { GitError } from "../../format/errors.ts";
import type { Ident } from "../../format/ident.ts";
import { equalOids, fromHex, isHexOid, type Oid, toHex } from "../../format/oid.ts";
import type { OpenRepository } from "../open-repository.ts";
import { mergeConflict } from "../merge/merge-conflict.ts";
import { mergeTrees } from "../merge/merge-trees.ts";
import { resolveCommit, revisionOf } from "../revision.ts";
import { takeBranchTurn } from "./branch-turn.ts";
import { NewObjects } from "./new-objects.ts";
import { applyOperations, checkOperations, type Operation, pathsOf } from "./operation.ts";
import { isSame, publish, staleRef } from "./publish.ts";
import { TreeDraft } from "./tree-draft.ts";

const BRANCHES = "refs/heads/";

/** A commit to be made. Text is as it came from JSON, unless it is called a byte string. */
export interface CommitRequest {
  /** Without `refs/heads/`; byte string. */
  readonly branch: string;
  /** A revision: where the branch begins when it is not there; null: it must be there, or be the first one. */
  readonly startPoint: string | null;
  /** A revision: the commit whose files were edited; null: whichever the branch is at. */
  readonly base: string | null;
  /** What is done when the branch has moved on from the base. */
  readonly onConflict: "merge" | "fail";
  /** Byte string, as it is written. */
  readonly message: string;
  readonly author: Ident;
  readonly committer: Ident;
  readonly allowEmpty: boolean;
  readonly operations: readonly Operation[];
}

/** How the change came into the branch. */
export type CommitKind =
  /** The branch was where the change was made for. */
  | "fast-forward"
  /** The branch had moved on: the change was merged three ways, and is one commit on top of it. */
  | "rebased"
  /** The files are so already: there is no new commit. */
  | "unchanged";

/** A commit that was made; ids in hex, paths as text. */
export interface CommitAnswer {
  readonly kind: CommitKind;
  readonly branch: string;
  /** Where the branch is now. */
  readonly commit: string;
  readonly tree: string;
  readonly parents: string[];
  /** What lies now at each path that was named; null: nothing. */
  readonly files: { path: string; mode: string | null; oid: string | null }[];
}

/** Changes files of a branch, in one commit. The branch moves only if nothing stands against it; what commits and pushes that come
 * meanwhile have changed stays.
 * @throws GitError "invalid", "not-found" and "conflict" for an operation, with its field; "not-found" for a branch or revision; "stale" when
 * the branch has moved on and that is not wanted; "conflict" with `conflicts` when it cannot be merged; and what refuses a push's objects */
export async function commit(repository: OpenRepository, request: CommitRequest): Promise<CommitAnswer> {
  const { platform, fsck } = repository.state;
  checkOperations(platform.codec, maskRefused(fsck), request.operations);
  const name = BRANCHES + request.branch;
  return takeBranchTurn(repository, name, isMinded(request), () => new Attempt(repository, request, name).run());
}

/** Whether the branch must be where the caller saw it. */
function isMinded({ base, onConflict }: CommitRequest): boolean {
  return base !== null && onConflict === "fail";
}

/** One attempt, from the branch as it is when it begins. */
class Attempt {
  readonly #repository: OpenRepository;
  readonly #request: CommitRequest;
  readonly #ref: string;
  readonly #objects: NewObjects;

  constructor(repository: OpenRepository, request: CommitRequest, ref: string) {
    this.#repository = repository;
    this.#request = request;
    this.#ref = ref;
    this.#objects = new NewObjects(repository.state.platform.codec);
  }

  async run(): Promise<CommitAnswer> {
    const old = this.#repository.tables.refs.get(this.#ref)?.oid ?? null;
    const tip = old ?? (await this.#findStart());
    const base = await this.#findBase(tip);
    const isMoved = !isSame(base, tip);
    const was = tip && this.#treeOf(tip);
    const tree = await (isMoved ? this.#mergeOnto(was, base) : this.#change(was));
    const parents = tip === null ? [] : [tip];
    if (was !== null && equalOids(tree, was) && !this.#request.allowEmpty) {
      return this.#answer("unchanged", tip!, tree, parents);
    }
    const oid = this.#objects.add("commit", this.#encode(tree, parents));
    await publish(this.#repository, [{ name: this.#ref, old, new: oid }], this.#objects.all());
    return this.#answer(isMoved ? "rebased" : "fast-forward", oid, tree, parents);
  }

  /** Where a branch begins that is not there; null: with nothing. */
  async #findStart(): Promise<Oid | null> {
    const { startPoint, branch } = this.#request;
    if (startPoint !== null) return (await resolveCommit(this.#repository, encodeText(startPoint))).oid;
    const { refs } = this.#repository.tables;
    if (refs.head() === this.#ref || refs.withPrefixes([BRANCHES]).names.length === 0) return null;
    throw new GitError("not-found", { what: "branch", field: "branch", reason: decodeText(branch) });
  }

  /** The commit that the change was made for; null: there was none.
   * @throws GitError "stale" when the branch has moved on from it and must not have */
  async #findBase(tip: Oid | null): Promise<Oid | null> {
    const { base, onConflict } = this.#request;
    if (base === null || (tip !== null && base === toHex(tip))) return tip;
    const oid = this.#findAncestor(base, tip) ?? (await resolveCommit(this.#repository, encodeText(base))).oid;
    if (!isSame(oid, tip) && (tip === null || onConflict === "fail")) throw staleRef(this.#request.branch, oid, tip);
    return oid;
  }

  /** Finds an ancestor of the tip by its whole id. What else may be meant is looked for among all refs. */
  #findAncestor(base: string, tip: Oid | null): Oid | null {
    if (tip === null || !isHexOid(base)) return null;
    const { graph, objects } = this.#repository.tables;
    const oid = fromHex(base);
    const number = objects.find(oid)?.number;
    const position = number === undefined ? -1 : graph.position(number);
    const isCommit = number !== undefined && revisionOf(this.#repository, number).type === "commit";
    return isCommit && graph.isAncestor(position, graph.position(this.#repository.numberOf(tip))) ? oid : null;
  }

  /** Makes the change in a tree.
   * @param objects takes what is new
   * @returns the tree that comes of it */
  async #change(tree: Oid | null, objects = this.#objects): Promise<Oid> {
    const draft = await TreeDraft.open(this.#repository, objects, tree);
    await applyOperations(draft, this.#request.operations);
    return draft.write() ?? objects.add("tree", new Uint8Array(0));
  }

  /** Makes the change, which was meant for the base, in a tree that has moved on from it. */
  async #mergeOnto(tree: Oid | null, base: Oid | null): Promise<Oid> {
    const was = this.#treeOf(base!);
    if (!(await this.#isTouched(was, tree!))) return this.#change(tree);
    const made = new NewObjects(this.#repository.state.platform.codec);
    const theirs = await this.#change(was, made);
    const labels = { ours: this.#request.branch, theirs: "the change" };
    const merged = await mergeTrees(this.#repository, { base: was, ours: tree, theirs }, labels, made);
    if (merged.kind === "conflicts") throw mergeConflict("change", merged.conflicts);
    for (const { type, content, origin } of merged.newObjects) this.#objects.add(type, content, origin);
    return merged.tree;
  }

  /** Whether two trees differ at a path that the change names. */
  async #isTouched(before: Oid, after: Oid): Promise<boolean> {
    const was = await TreeDraft.open(this.#repository, this.#objects, before);
    const is = await TreeDraft.open(this.#repository, this.#objects, after);
    for (const path of new Set(this.#request.operations.flatMap(pathsOf))) {
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
    const { graph } = this.#repository.tables;
    return revisionOf(this.#repository, graph.tree(graph.position(this.#repository.numberOf(commit)))).oid;
  }

  async #answer(kind: CommitKind, oid: Oid, tree: Oid, parents: readonly Oid[]): Promise<CommitAnswer> {
    const draft = await TreeDraft.open(this.#repository, this.#objects, tree);
    const files: CommitAnswer["files"][number][] = [];
    for (const path of new Set(this.#request.operations.flatMap(pathsOf))) {
      const entry = await draft.find(path.split("/"));
      const there = entry !== null && entry !== "blocked" && entry.kind === "object" ? entry : null;
      files.push({
        path: decodeText(path),
        mode: there && there.mode.toString(8).padStart(6, "0"),
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

/** What lies at a path, as text that differs when it differs. */
async function findOid(draft: TreeDraft, path: string): Promise<string> {
  const entry = await draft.find(path.split("/"));
  if (entry === null || entry === "blocked") return entry ?? "nothing";
  return entry.kind === "directory" ? "directory" : `${entry.mode} ${toHex(entry.oid)}`;
}
