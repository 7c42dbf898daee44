import { MAX_SHARED_BYTES, MAX_SHARED_COMMITS } from "../../format/limits.ts";
import { type Oid, toHex } from "../../format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { keepRoot } from "../objects/tree-contents.ts";
import { type NewObject, NewObjects } from "../publish/new-objects.ts";
import { NewPack } from "../publish/new-pack.ts";
import { publishSteps, type RefStep } from "../publish/publish.ts";

export const BRANCHES = "refs/heads/";

/** A commit that was made for a branch. */
export interface MadeCommit {
  readonly oid: Oid;
  readonly tree: Oid;
  /** Its first parent; null: it has none. */
  readonly parent: Oid | null;
  /** What is new with it; what one refers to comes before it. */
  readonly objects: readonly NewObject[];
}

/** A branch with commits on top of it that are published together: each is made on top of the one before, as if that were there. */
export class BranchDraft {
  /** Its full name, byte string. */
  readonly ref: string;
  /** What the commits so far have brought. */
  readonly objects: NewObjects;
  readonly #pack: NewPack;
  readonly #steps: RefStep[] = [];
  /** Of the commits so far. */
  readonly #trees = new Map<string, Oid>();
  /** Numbers of stored commits, by their ids in hex. */
  readonly #numbers = new Map<string, number>();
  readonly #repository: OpenRepository;
  #tip: Oid | null;
  /** What the first commit was made on top of. */
  #root: Oid | null = null;

  /** Begins with the branch as it is.
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

  /** Where the branch will be with the commits so far; null: it is not there. */
  get tip(): Oid | null {
    return this.#tip;
  }

  /** Whether no further commit should join those that are here. */
  get isFull(): boolean {
    return this.#steps.length >= MAX_SHARED_COMMITS || this.#pack.end >= MAX_SHARED_BYTES;
  }

  /** The newest commit that is stored, of those that lead to a tip.
   * @param tip where the next commit goes */
  storedTip(tip: Oid | null): Oid | null {
    return this.#steps.length === 0 ? tip : this.#root;
  }

  /** The tree of one of the commits so far; undefined: it is none. */
  treeOf(commit: Oid): Oid | undefined {
    return this.#trees.get(toHex(commit));
  }

  /** The object number of a stored commit that leads to the tip. */
  numberOf(commit: Oid): number {
    const hex = toHex(commit);
    const number = this.#numbers.get(hex) ?? this.#repository.numberOf(commit);
    this.#numbers.set(hex, number);
    return number;
  }

  /** Adds a commit.
   * @param repository as who made it sees it */
  add(repository: OpenRepository, { oid, tree, parent, objects }: MadeCommit): void {
    if (this.#steps.length === 0) this.#root = parent;
    this.objects.addAll(objects);
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
