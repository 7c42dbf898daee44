import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { isGitError } from "../../base/format/errors.ts";
import { checkLimit } from "../../base/format/limits.ts";
import type { Oid } from "../../base/format/oid.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import type { FileChanges } from "../store/jobs/file-changes.ts";
import { REMOVED } from "../store/jobs/worktree-records.ts";
import type { PendingFile, Worktree, WrittenFile } from "../store/jobs/worktree-table.ts";
import { ObjectReader } from "../objects/object-reader.ts";
import { findChangedFiles } from "../worktree/changed-files.ts";
import { FileWriter } from "../worktree/file-writer.ts";
import { wantedTip, worktreeBytesLimit } from "../worktree/worktrees.ts";
import type { JobOutcome, JobRun } from "./maintenance-jobs.ts";

/** Files written or removed between two checks of the branch, and two transactions. A crash repeats
 * at most these. */
const SLICE_FILES = 250;

/** The most that a run writes before it leaves the rest to the next: an alarm has limited time and
 * operations. */
const RUN_FILES = 4_000;
const RUN_BYTES = 256 * 1024 * 1024;

/** The job `materialize`: updates the worktree of the branch in its key to the branch's tip, or
 * removes it with the branch.
 *
 * Two steps alternate. *Plan*: in one transaction what is stored becomes the files of the tip's
 * commit. Files that differ, found by comparing the trees of the previous commit and this one, are
 * pending. *Write*: some pending files are written to R2 or removed there, then recorded in one
 * transaction. If anything interrupts the work at an `await`, the next run continues from what is
 * stored, where unfinished files are still pending. A branch that moves meanwhile is planned again,
 * and correct files stay. */
export async function materialize(run: JobRun): Promise<JobOutcome> {
  const { repository } = run;
  if (repository.tables === null) return { counts: { files: 0 }, again: false };
  // Pruning must not remove objects between reading the rows and reading the objects that they
  // name.
  return repository.holdNumbers(() => new Materialization(run).run());
}

class Materialization {
  readonly #run: JobRun;
  readonly #branch: string;
  readonly #writer: FileWriter;
  /** What this run writes: the pending files of the planned commit, the next ones first. */
  #batch: { readonly planned: number; readonly files: PendingFile[] } = { planned: 0, files: [] };
  readonly #counts = { files: 0, bytes: 0, deletedObjects: 0 };

  constructor(run: JobRun) {
    this.#run = run;
    this.#branch = run.job.key;
    this.#writer = new FileWriter(run.repository, run.store, run.pace, this.#branch);
  }

  /** Must be read again after each wait: a push that fails reopens them. */
  get #tables(): Tables {
    return this.#run.repository.tables!;
  }

  async run(): Promise<JobOutcome> {
    let isDone = false;
    const isEnough = (): boolean => this.#counts.files >= RUN_FILES || this.#counts.bytes >= RUN_BYTES;
    while (!isDone && !isEnough() && !this.#run.pace.isInterrupted) {
      const worktree = await this.#plan();
      isDone = worktree === null || (await this.#write(worktree));
    }
    return { counts: { ...this.#counts, peakBytes: this.#writer.peakBytes }, again: !isDone };
  }

  /** Makes what is stored the files of the branch's tip.
   * @returns null: nothing to write */
  async #plan(): Promise<Worktree | null> {
    const { worktrees, objects } = this.#tables;
    const { repository } = this.#run;
    const known = worktrees.get(this.#branch);
    const tip = wantedTip(this.#tables, this.#branch, repository.platform.worktrees);
    const commit = tip === null ? 0 : objects.find(tip)!.number;
    if (known === null && commit === 0) return null;
    if (known?.planned === commit && known.refused === null) return known;
    try {
      const changes = await this.#findChanges(known, commit);
      return repository.transactAside(() => {
        const before = worktrees.add(this.#branch);
        worktrees.plan(before.id, commit, changes);
        const after = worktrees.get(this.#branch)!;
        if (after.sizeBytes > before.sizeBytes) this.#checkBytes();
        if (after.sizeBytes < before.sizeBytes) this.#tryRefused();
        return after;
      });
    } catch (error) {
      // A retry would fail again; the branch's next commit may not.
      if (!isGitError(error, "too-large")) throw error;
      repository.transactAside(() => worktrees.refuse(worktrees.add(this.#branch).id, error.message));
      return null;
    }
  }

  /** Other branches may have room now. */
  #tryRefused(): void {
    const { worktrees, jobs } = this.#tables;
    for (const { branch, refused } of worktrees.all())
      if (refused !== null && branch !== this.#branch) jobs.add("materialize", branch, this.#run.nowMs);
  }

  /** @throws GitError "too-large" when the files of all branches take too much */
  #checkBytes(): void {
    const limit = worktreeBytesLimit(this.#tables, this.#run.repository.platform.limits);
    const reason = "it grows with what is stored; choose fewer branches, or keep the files in Git LFS";
    checkLimit("the files of branches (bytes)", limit, this.#tables.worktrees.sizeBytes(), reason);
  }

  async #findChanges(known: Worktree | null, commit: ObjectNumber): Promise<FileChanges> {
    const { graph, objects, worktrees } = this.#tables;
    const { store, repository } = this.#run;
    const { codec, limits } = repository.platform;
    const treeOf = (number: ObjectNumber): ObjectNumber => (number === 0 ? 0 : graph.tree(graph.position(number)));
    const planned = known?.planned ?? 0;
    // The planned commit may have been pruned. Then only the table says which files existed.
    const isPruned = planned !== 0 && graph.position(planned) < 0;
    const from = isPruned ? 0 : treeOf(planned);
    const reader = new ObjectReader(this.#tables, store, codec);
    const changes = await findChangedFiles(reader, objects, from, treeOf(commit), limits.maxWorktreePathBytes);
    if (!isPruned) return changes;
    const kept = new Set(Iterator.from(changes).map(({ path }) => path));
    for (const path of worktrees.paths(known!.id)) if (!kept.has(path)) changes.add({ path, file: null });
    return changes;
  }

  /** Writes and removes some of the pending files.
   * @returns whether none is left */
  async #write(worktree: Worktree): Promise<boolean> {
    const { id } = worktree;
    const pending = Map.groupBy(this.#nextSlice(worktree), ({ source }) => source === REMOVED);
    const removed = pending.get(true)?.map(({ path }) => path) ?? [];
    if (removed.length > 0) await this.#writer.remove(removed);
    const written: WrittenFile[] = [];
    try {
      await this.#writer.write(this.#tables, pending.get(false) ?? [], written);
    } catch (error) {
      this.#record(id, removed, written);
      throw error;
    }
    return this.#record(id, removed, written);
  }

  /** Files of a run are read at once: in the order of the blobs' numbers each chunk is read
   * once. */
  #nextSlice({ id, planned }: Worktree): PendingFile[] {
    if (this.#batch.planned !== planned || this.#batch.files.length === 0)
      this.#batch = { planned, files: this.#tables.worktrees.pending(id, RUN_FILES, RUN_BYTES) };
    return this.#batch.files.splice(0, SLICE_FILES);
  }

  /** @returns whether nothing is left */
  #record(id: number, removed: readonly string[], written: readonly WrittenFile[]): boolean {
    const { worktrees, objects } = this.#tables;
    // A commit that was pruned meanwhile has no id any more.
    const oidOf = (commit: ObjectNumber): Oid | null => {
      const { oid } = objects.locateExisting(NumberSet.of(commit));
      return oid.length === 0 ? null : oid;
    };
    this.#counts.files += written.length;
    this.#counts.bytes += written.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.#counts.deletedObjects += removed.length;
    return this.#run.repository.transactAside(() => worktrees.record(id, removed, written, oidOf, this.#run.nowMs));
  }
}
