import { isGitError } from "../../format/errors.ts";
import type { ChunkStore } from "../../store/chunks/chunk-store.ts";
import { RowAudit } from "../../store/index/row-audit.ts";
import type { Tables } from "../../store/tables.ts";
import { WorkBudget } from "../pacing/work-budget.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { FsckProblem } from "./problem.ts";
import { StoredEntries } from "./stored-entries.ts";

/** Stored bytes that one call reads, unless its time is over before. What is begun then is finished. */
const CALL_BYTES = 64 * 1024 * 1024;

/** Problems that one call tells; the rest is counted. */
const MAX_PROBLEMS = 1_000;

/** What a call has looked at. */
export interface FsckCounts {
  chunks: number;
  /** Stored bytes of chunks. */
  bytes: number;
  objects: number;
  references: number;
  /** Nodes of the graph whose part in reachability was computed anew. */
  nodes: number;
  /** Nodes for which that could not be done: a tree below cannot be read. */
  skippedNodes: number;
  refs: number;
  /** R2 objects that were asked for their size: bundle, responses, files of worktrees. */
  files: number;
  /** R2 keys of the repository. */
  keys: number;
  /** Things that were mended, or will be by a job. */
  repaired: number;
}

/** One part of a check: goes on behind `after`, until all is done or the run is spent.
 * @returns where the next call goes on, null: all is done */
export type FsckStage = (run: FsckRun, after: string) => Promise<string | null>;

/** Bytes that are made whole and hashed in a step. */
const BYTES_PER_STEP = 2_048;

/** What the parts of one call share. */
export class FsckRun {
  readonly repository: OpenRepository;
  readonly audit: RowAudit;
  readonly entries: StoredEntries;
  /** Findings of git's fsck that are problems, as a mask. */
  readonly refused: bigint;
  /** Whether what can be made anew is. */
  readonly repair: boolean;
  readonly problems: FsckProblem[] = [];
  problemCount = 0;
  readonly checked: FsckCounts = {
    chunks: 0,
    bytes: 0,
    objects: 0,
    references: 0,
    nodes: 0,
    skippedNodes: 0,
    refs: 0,
    files: 0,
    keys: 0,
    repaired: 0,
  };
  readonly #budget: WorkBudget;

  constructor(repository: OpenRepository, refused: bigint, repair: boolean, budgetMs: number) {
    this.#budget = new WorkBudget(budgetMs);
    this.repository = repository;
    this.refused = refused;
    this.repair = repair;
    this.audit = new RowAudit(repository.state.platform.sql);
    this.entries = new StoredEntries(this.audit, () => this.tables, this.store, repository.state.platform.codec);
  }

  /** The tables; to be asked again after each wait. */
  get tables(): Tables {
    return this.repository.tables;
  }

  get store(): ChunkStore {
    return this.repository.chunks;
  }

  /** Whether the time is over, whatever was done in it. */
  get isOver(): boolean {
    return this.#budget.isSpent;
  }

  /** Whether the rest is for the next call. */
  get isSpent(): boolean {
    return this.#budget.isSpent || this.checked.bytes >= CALL_BYTES;
  }

  report(problem: FsckProblem): void {
    this.problemCount += 1;
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem);
  }

  /** To be called with each small step of the work: gives others their turn.
   * @param bytes that it makes whole, and hashes */
  step(bytes = 0): Promise<void> {
    return this.#budget.step(1 + Math.floor(bytes / BYTES_PER_STEP));
  }
}

/** Why something could not be read, when it is damaged.
 * @throws what is the server's failure, and no damage: a check that could not be made must not pass for one that failed */
export function damageOf(error: unknown): string {
  if (!isGitError(error)) throw error;
  switch (error.code) {
    case "corrupt-pack":
    case "corrupt-delta":
    case "corrupt-object":
    case "too-large":
      return error.message;
    case "storage-failed":
      if (error.data["damage"] === true) return String(error.data["reason"]);
      throw error;
    default:
      throw error;
  }
}
