import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { MAX_SHARED_BYTES, MAX_SHARED_COMMITS } from "../../base/format/limits.ts";
import { type Oid, toHex } from "../../base/format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { keepRoot } from "../objects/tree-contents.ts";
import { type NewObject, NewObjects } from "../push/new-objects.ts";
import { NewPack } from "../push/new-pack.ts";
import { publishSteps, type RefStep } from "../push/publish.ts";

/** A commit made for a branch. */
export interface MadeCommit {
  readonly oid: Oid;
  readonly tree: Oid;
  /** Its first parent; null: none. */
  readonly parent: Oid | null;
  /** Its new objects. An object follows those that it refers to. */
  readonly objects: readonly NewObject[];
}

/** A branch with commits on top of it that are published together. Each is made on top of the one
 * before, as if that were stored already. */
export class BranchDraft {
  /** Its full name, byte string. */
  readonly ref: string;
  /** The new objects of the commits so far. */
  readonly objects: NewObjects;
  readonly #pack: NewPack;
  readonly #steps: RefStep[] = [];
  /** Trees of the commits so far, by the commits' ids in hex. */
  readonly #trees = new Map<string, Oid>();
  /** Numbers of stored commits, by their ids in hex. */
  readonly #numbers = new Map<string, number>();
  readonly #repository: OpenRepository;
  #tip: Oid | null;
  /** The parent of the first commit. */
  #root: Oid | null = null;

  /** Starts at the current tip of the branch.
   * @param ref its full name, byte string */
  constructor(repository: OpenRepository, ref: string) {
    const { state, tables } = repository;
    const { codec } = state.platform;
    this.#repository = repository;
    this.ref = ref;
    this.objects = new NewObjects(codec);
    this.#pack = new NewPack(codec);
    this.#tip = tables.refs.get(ref)?.oid ?? null;
  }

  /** The branch's tip after the commits so far; null: it does not exist. */
  get tip(): Oid | null {
    return this.#tip;
  }

  /** Whether no more commits should be added. */
  get isFull(): boolean {
    return this.#steps.length >= MAX_SHARED_COMMITS || this.#pack.end >= MAX_SHARED_BYTES;
  }

  /** The newest stored commit among the ancestors of a tip.
   * @param tip the parent of the next commit */
  storedTip(tip: Oid | null): Oid | null {
    return this.#steps.length === 0 ? tip : this.#root;
  }

  /** The tree of one of the commits so far; undefined: not one of them. */
  treeOf(commit: Oid): Oid | undefined {
    return this.#trees.get(toHex(commit));
  }

  /** The object number of a stored ancestor of the tip. */
  numberOf(commit: Oid): ObjectNumber {
    const hex = toHex(commit);
    const number = this.#numbers.get(hex) ?? this.#repository.numberOf(commit);
    this.#numbers.set(hex, number);
    return number;
  }

  /** Adds a commit.
   * @param repository as its author may see it */
  add(repository: OpenRepository, { oid, tree, parent, objects }: MadeCommit): void {
    if (this.#steps.length === 0) this.#root = parent;
    for (const object of objects) this.objects.addKnown(object);
    this.#pack.add(objects);
    this.#trees.set(toHex(oid), tree);
    this.#steps.push({
      repository,
      old: this.#tip,
      new: oid,
      packEnd: this.#pack.end,
      objects: objects.length,
    });
    this.#tip = oid;
  }

  /** Publishes the commits, all or none.
   * @throws GitError @see publishSteps */
  async publish(): Promise<void> {
    if (this.#steps.length === 0) return;
    await publishSteps(this.ref, this.#steps, this.#pack.finish(), this.objects.all());
    for (const { new: commit } of this.#steps) keepRoot(commit, this.treeOf(commit)!);
  }
}
