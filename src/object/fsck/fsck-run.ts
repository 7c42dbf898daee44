import { isGitError } from "../../base/format/errors.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import { OID_BYTES } from "../../base/format/oid.ts";
import type { Lookup } from "../store/index/object-columns.ts";
import type { Tables } from "../store/tables.ts";
import { RowAudit } from "../store/index/row-audit.ts";
import { WorkBudget } from "../../base/pacing/work-budget.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { FsckProblem, FsckProblemKind, FsckCounts } from "../../contract/upkeep.ts";
import { StoredEntries } from "./stored-entries.ts";

/** Stored bytes after which a call ends, unless its steps are spent first. A step that has begun is
 * finished. */
const CALL_BYTES = 64 * 1024 * 1024;

/** The most problems that one call lists; the rest is only counted. */
const MAX_PROBLEMS = 1_000;

/** One stage of a check. Continues after `after`, until the stage is complete or the run is spent.
 * @returns where the next call continues, null: the stage is complete */
export type FsckStage = (run: FsckRun, after: string) => Promise<string | null>;

/** Problems after which an R2 object that no row names may be what a lost row named. */
const LOSES_ROWS: ReadonlySet<FsckProblemKind> = new Set(["unreadable", "object-row", "chunk-row"]);

/** Bytes read and hashed that count as one step. */
const BYTES_PER_STEP = 2_048;

/** Entries or pairs looked at, and ids or rows looked up, that count as one step. */
const LOOKS_PER_STEP = 64;
const LOOKUPS_PER_STEP = 16;

/** Ids that are looked up between two pauses. */
const LOOKUP_IDS = 8_192;

/** The results for ids, in order; 0: there is no such object. */
export type FoundObjects = Pick<Lookup, "number" | "type">;

/** The state shared by the stages of one call. */
export class FsckRun {
  readonly repository: OpenRepository;
  readonly audit: RowAudit;
  readonly entries: StoredEntries;
  /** Findings of git's fsck that count as problems, as a mask. */
  readonly refused: bigint;
  /** Whether to repair what can be rebuilt. */
  readonly repair: boolean;
  readonly problems: FsckProblem[] = [];
  problemCount = 0;
  /** Whether this call or one before has found rows that are lost. */
  hasLostRows: boolean;
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
  /** What was told to be unreadable: many steps may meet the same damage. */
  readonly #unreadable = new Set<string>();

  constructor(repository: OpenRepository, refused: bigint, repair: boolean, budgetSteps: number, hasLostRows: boolean) {
    this.#budget = new WorkBudget(budgetSteps);
    this.hasLostRows = hasLostRows;
    this.repository = repository;
    this.refused = refused;
    this.repair = repair;
    // What is checked is what is stored, not what was read before.
    this.tables.forget();
    this.audit = new RowAudit(repository.state.platform.sql, this.tables.objects);
    this.entries = new StoredEntries(this.audit, () => this.tables, this.store, repository.state.platform.codec);
  }

  /** The current tables. Must be read again after each wait. */
  get tables(): Tables {
    return this.repository.tables;
  }

  get store(): ChunkStore {
    return this.repository.chunks;
  }

  /** Whether the steps are spent, however few bytes were read. */
  get isOver(): boolean {
    return this.#budget.isSpent;
  }

  /** Whether to leave the rest to the next call. */
  get isSpent(): boolean {
    return this.#budget.isSpent || this.checked.bytes >= CALL_BYTES;
  }

  report(problem: FsckProblem): void {
    this.problemCount += 1;
    this.hasLostRows ||= LOSES_ROWS.has(problem.kind);
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem);
  }

  /** Runs part of the check. Damage in what it reads becomes a problem, and the check goes on.
   * @param part what is read, for people
   * @param otherwise the result when it cannot be read
   * @throws what is no damage, as `damageOf` */
  async attempt<T>(part: string, f: () => T | Promise<T>, otherwise: T): Promise<T> {
    try {
      return await f();
    } catch (error) {
      this.reportUnreadable(part, await this.damageOf(error));
      return otherwise;
    }
  }

  /** Reports, once in a call, that part of the check could not be made. */
  reportUnreadable(part: string, damage: string): void {
    const detail = `${part}: ${damage}`;
    if (this.#unreadable.has(detail)) return;
    this.#unreadable.add(detail);
    this.report({ kind: "unreadable", detail });
  }

  /** Why something cannot be read, if it is damaged.
   * @throws any error that is not damage */
  damageOf(error: unknown): Promise<string> {
    return damageOf(error, this.store, () => this.tables);
  }

  /** Steps that the call may still do. */
  get stepsLeft(): number {
    return this.#budget.left;
  }

  /** Must be called with each small step of the work: lets other requests run.
   * @param bytes read and hashed in the step */
  step(bytes = 0): Promise<void> {
    return this.#budget.step(1 + Math.floor(bytes / BYTES_PER_STEP));
  }

  /** The same for entries or pairs that are looked at in memory. */
  look(count: number): Promise<void> {
    return this.#budget.step(Math.ceil(count / LOOKS_PER_STEP));
  }

  /** The same for rows that are read, or ids that are looked up. */
  readRows(count: number): Promise<void> {
    return this.#budget.step(Math.ceil(count / LOOKUPS_PER_STEP));
  }

  /** Looks up any number of ids, with pauses.
   * @param oids packed
   * @throws GitError "storage-failed" when rows cannot be read */
  async lookup(oids: Uint8Array): Promise<FoundObjects> {
    const count = oids.length / OID_BYTES;
    const found = { number: new Uint32Array(count), type: new Uint8Array(count) };
    for (let from = 0; from < count; from += LOOKUP_IDS) {
      const end = Math.min(count, from + LOOKUP_IDS);
      const part = this.tables.objects.lookupMany(oids.subarray(from * OID_BYTES, end * OID_BYTES));
      found.number.set(part.number, from);
      found.type.set(part.type, from);
      await this.readRows(end - from);
    }
    return found;
  }
}

/** Messages of SQLite when a database is damaged, as opposed to busy, full or closed. */
const DAMAGED_DATABASE = /SQLITE_(CORRUPT|NOTADB)|malformed|not a database|no such (table|column)/;

/** Why something cannot be read, if what is stored is damaged.
 * @param tables the current tables
 * @throws any error that is not damage, such as a failure of the store: a check that could not be
 * made must not count as a failed one */
async function damageOf(error: unknown, store: ChunkStore, tables: () => Tables): Promise<string> {
  if (!isGitError(error)) {
    if (isOfDamagedRow(error)) return error.message;
    throw error;
  }
  switch (error.code) {
    case "corrupt-pack":
    case "corrupt-delta":
    case "corrupt-object":
    case "missing-object":
    case "wrong-type":
    case "too-large":
    case "damaged-data":
      return error.message;
    case "storage-failed": {
      const { damage, reason, key } = error.data;
      if (damage === true) return String(reason);
      // Tables have names, R2 objects have keys with slashes.
      if (typeof key !== "string" || !key.includes("/")) return error.message;
      const loss = await findLostObject(store, key, tables());
      if (loss !== null) return loss;
      throw error;
    }
    default:
      throw error;
  }
}

/** Whether an error is what code meets in a row that is not as it was written: JSON that does not
 * parse, numbers out of range, values that are missing. */
function isOfDamagedRow(error: unknown): error is Error {
  if (error instanceof RangeError || error instanceof SyntaxError || error instanceof TypeError) return true;
  return error instanceof Error && DAMAGED_DATABASE.test(error.message);
}

/** What is wrong with an R2 object that could not be read; null: it is there, and the store
 * failed. */
async function findLostObject(store: ChunkStore, key: string, tables: Tables): Promise<string | null> {
  const stat = await store.stat(key);
  if (stat === null) return `the R2 object ${key} is missing`;
  const end = tables.chunks
    .allInOrder()
    .reduce((most, chunk) => (chunk.key === key ? Math.max(most, chunk.start + chunk.size) : most), 0);
  if (stat.sizeBytes >= end) return null;
  return `the R2 object ${key} has ${stat.sizeBytes} bytes, but its chunks end at ${end}`;
}
