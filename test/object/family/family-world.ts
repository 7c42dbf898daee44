import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { instantiateCodec } from "../../../src/base/codec/codec.ts";
import wasm from "../../../src/base/codec/holdfast.wasm";
import type { Limits } from "../../../src/base/format/configured-limits.ts";
import type { FamilyMember } from "../../../src/object/state/family.ts";
import { readRepository, tableExists } from "../../../src/object/store/sql/schema.ts";
import { type Fault, FaultyChunkStore } from "../../harness/faulty-chunk-store.ts";
import { editChunks } from "../../harness/edit-chunks.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { FaultPoints, faultyRegistry, forgetTrees, type Place, PlannedFault } from "../faults/fault-points.ts";
import { FaultySql } from "../faults/faulty-sql.ts";
import { checkNothingUnreachable, checkRepository, namedKeys, readRefs, type RefStates } from "../faults/invariants.ts";
import { PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import { cutAnswer } from "./cut-parts.ts";
import { pausedStore } from "./paused-store.ts";

/** What one run of a world is like. */
export interface FamilyTemper {
  readonly limits?: Partial<Limits>;
  /** Every call of R2, the registry or another repository waits so before its effect, and a call of
   * another repository after it, too. */
  pause(): Promise<void>;
  /** The most rows of tables in an answer to a fork. */
  partRows(): number;
  /** When a call of another repository that failed arrives all the same; null: never. */
  late(): Promise<void> | null;
  /** Records what happens. */
  note(text: string): void;
}

const CALM: FamilyTemper = {
  pause: () => Promise.resolve(),
  partRows: () => Infinity,
  late: () => null,
  note: () => undefined,
};

/** What outlives the processes of one repository. */
interface Member {
  readonly id: string;
  readonly database: DatabaseSync;
  /** The database, without faults. */
  readonly plain: NodeSql;
  process: Process | null;
  /** When its jobs run next, while no process lives; null: never. */
  alarmMs: number | null;
}

/** One process of a repository. A dead one has no effect any more. */
interface Process {
  repository: PushedRepository | null;
  isOver: boolean;
}

const codec = instantiateCodec(wasm);

/** The most alarms in a row. */
const MOST_RINGS = 20_000;

/** Several repositories that share R2 and a registry, and call each other. Every call of one of
 * them to its database, R2, the registry or another one is a point; a fault occurs at one of them.
 * A process that dies is replaced by the next request or alarm. */
export class FamilyWorld extends FaultPoints {
  /** Clients see no dead process: their requests fail. @see ask */
  readonly isDead = false;
  /** The content of R2. */
  store = new MemoryChunkStore();
  readonly #temper: FamilyTemper;
  #members = new Map<string, Member>();
  /** Ids that the registry has a name for. */
  #named = new Set<string>();
  /** Calls that arrive after their caller was told that they failed. */
  readonly #late = new Set<Promise<unknown>>();
  #restored = 0;
  #saved: { store: MemoryChunkStore; members: readonly Member[]; named: ReadonlySet<string> } | null = null;

  constructor(temper: Partial<FamilyTemper> = {}) {
    super();
    this.#temper = { ...CALM, ...temper };
  }

  /** Ends every process. */
  start(): void {
    for (const member of this.#members.values()) this.kill(member.id);
  }

  /** Ends the process of a repository, if there is one. */
  kill(id: string): void {
    const { process } = this.#members.get(id)!;
    if (process !== null) this.#end(this.#members.get(id)!, process);
  }

  /** Reserves a name for a repository that a push or a fork will make. */
  reserve(id: string): void {
    this.#named.add(id);
    this.#member(id);
  }

  /** Whether the registry keeps a name for it. */
  isNamed(id: string): boolean {
    return this.#named.has(id);
  }

  /** The repository of a member's process. It is to be used in checks alone. */
  look(id: string): PushedRepository {
    return this.#wake(this.#member(id)).repository!;
  }

  /** Sends a request to a repository.
   * @throws whatever it throws; PlannedFault when its process died, so that nobody answers */
  async ask<T>(id: string, request: (repository: PushedRepository) => Promise<T>): Promise<T> {
    const process = this.#wake(this.#member(id));
    const result = await request(process.repository!);
    if (process.isOver) throw new PlannedFault(`${id} died before it answered`);
    return result;
  }

  /** The repositories that exist. */
  living(): string[] {
    return [...this.#members.values()].filter(({ plain }) => exists(plain)).map(({ id }) => id);
  }

  /** When the next alarm rings; Infinity: none will. */
  nextAlarmMs(): number {
    return Math.min(...[...this.#members.values()].map((member) => alarmOf(member) ?? Infinity));
  }

  /** Rings the next alarm, and, if it fails, sets it again for `againMs` later. */
  async ringNext(againMs: number): Promise<void> {
    const atMs = this.nextAlarmMs();
    const member = [...this.#members.values()].find((one) => alarmOf(one) === atMs)!;
    setAlarm(member, null);
    try {
      await this.ask(member.id, ({ repository }) => repository.runJobs(atMs));
    } catch (error) {
      // The platform repeats a failed alarm.
      setAlarm(member, Math.min(alarmOf(member) ?? Infinity, atMs + againMs));
      throw error;
    }
  }

  /** Rings all alarms that are set to a time up to `untilMs`, in order. */
  async ring(untilMs: number): Promise<void> {
    for (let rings = 0; rings < MOST_RINGS; rings++) {
      const atMs = this.nextAlarmMs();
      if (atMs > untilMs || atMs === Infinity) return;
      await this.ringNext(0);
    }
    throw new Error("the alarms never end");
  }

  /** Waits for the calls that arrive late. */
  async drain(): Promise<void> {
    while (this.#late.size > 0) await Promise.all(this.#late);
  }

  /** Has the registry ask those for which it keeps a name whether they exist. */
  async askReserved(): Promise<void> {
    const living = new Set(this.living());
    for (const id of this.#named) {
      if (living.has(id)) continue;
      await this.ask(id, ({ repository }) => repository.announce());
      this.#named.delete(id);
    }
  }

  /** Saves the state for `restore`, which can return to it any number of times. */
  save(): void {
    for (const { database } of this.#members.values()) database.exec("SAVEPOINT saved");
    const members = [...this.#members.values()].map((member) => ({ ...member, alarmMs: alarmOf(member) }));
    this.#saved = { store: this.store.copy(), members, named: new Set(this.#named) };
  }

  /** Returns to the saved state. The keys of chunks become new ones, since an isolate caches what
   * it has read. */
  restore(): void {
    this.start();
    const { store, members, named } = this.#saved!;
    const chunks = `/chunks/${this.#restored++}-`;
    this.store = store.copy((key) => key.replace("/chunks/", chunks));
    this.#members = new Map(members.map((member) => [member.id, { ...member, process: null }]));
    for (const { database, plain } of members) {
      database.exec("ROLLBACK TO saved");
      const replace = (table: string, column: string): void => {
        if (!tableExists(plain, table)) return;
        plain.exec(`UPDATE ${table} SET ${column} = replace(${column}, '/chunks/', ?)`, chunks);
      };
      if (tableExists(plain, "sealed_chunks")) {
        editChunks(plain, (row) => ({ ...row, key: row.key.replace("/chunks/", chunks) }));
      }
      replace("jobs", "key");
      replace("pins", "keys");
    }
    this.#named = new Set(named);
    forgetTrees();
    this.disarm();
  }

  /** All refs: id in hex by `<repository>:<ref>`. */
  refs(): Promise<RefStates> {
    return this.watch(() => {
      const refs = new Map<string, string>();
      for (const id of this.living()) for (const [name, oid] of this.refsOf(id)!) refs.set(`${id}:${name}`, oid);
      return refs;
    });
  }

  /** The refs of one repository, null: it does not exist. In checks alone. */
  refsOf(id: string): RefStates | null {
    return exists(this.#member(id).plain) ? readRefs(this.look(id)) : null;
  }

  /** Checks all that must hold at any time. */
  async check(refs: RefStates): Promise<void> {
    assert.deepEqual(await this.refs(), refs, "refs");
    for (const id of this.living()) await this.checkOne(id);
  }

  /** Checks all that must hold of one repository, whatever its refs are. */
  async checkOne(id: string): Promise<void> {
    const repository = this.look(id);
    await checkRepository(repository, this.store, readRefs(repository));
    for (const [owner, keys] of repository.repository.state.neededElsewhere()) {
      const pinned = new Set(this.#pinsIn(owner).get(id));
      for (const key of keys) assert.ok(pinned.has(key), `${id} needs ${key}, and has not pinned it`);
    }
  }

  /** Checks that no repository that does not exist keeps objects of others. */
  checkPins(): void {
    const living = new Set(this.living());
    for (const id of this.#members.keys()) {
      for (const holder of this.#pinsIn(id).keys())
        assert.ok(living.has(holder), `${holder} does not exist, and keeps objects of ${id}`);
    }
  }

  /** Checks that nothing is left to do, nor to remove. */
  async checkSettled(): Promise<void> {
    const named = new Set<string>();
    const pins = new Map<string, Map<string, string[]>>();
    const living = this.living();
    for (const id of living) {
      const { sql, tables, repository } = this.look(id);
      const jobs = tables.jobs.all().filter(({ kind }) => kind !== "expire");
      assert.deepEqual(jobs, [], `jobs of ${id}`);
      checkNothingUnreachable(tables);
      for (const key of namedKeys(sql, repository.state.key, tables)) named.add(key);
      for (const [owner, keys] of repository.state.neededElsewhere())
        pins.set(owner, (pins.get(owner) ?? new Map<string, string[]>()).set(id, [...keys].toSorted()));
    }
    assert.deepEqual(new Set(await Array.fromAsync(this.store.list(""))), named, "R2 keys and those that rows name");
    for (const id of this.#members.keys()) {
      assert.deepEqual(this.#pinsIn(id), pins.get(id) ?? new Map(), `what others need of ${id}`);
      if (living.includes(id) || pins.has(id)) continue;
      const tables = this.#member(id).plain.exec("SELECT name FROM sqlite_master").toArray();
      assert.deepEqual(tables, [], `the database of ${id}`);
    }
  }

  /** The pins in a repository's database: keys by holder. */
  #pinsIn(id: string): Map<string, string[]> {
    const sql = this.#member(id).plain;
    const pins = new Map<string, string[]>();
    if (!tableExists(sql, "pins")) return pins;
    for (const { holder, keys } of sql.exec<{ holder: string; keys: string }>("SELECT holder, keys FROM pins"))
      pins.set(holder, [...(pins.get(holder) ?? []), ...(JSON.parse(keys) as string[])].toSorted());
    return pins;
  }

  #member(id: string): Member {
    let member = this.#members.get(id);
    if (member !== undefined) return member;
    const database = new DatabaseSync(":memory:");
    member = { id, database, plain: new NodeSql(database), process: null, alarmMs: null };
    this.#members.set(id, member);
    return member;
  }

  /** The living process, a new one if there is none. */
  #wake(member: Member): Process {
    if (member.process !== null) return member.process;
    const { id, database } = member;
    const process: Process = { repository: null, isOver: false };
    const meet = (place: Place): Fault | null => this.#meet(member, process, place);
    const sql = new FaultySql(database, () => {
      const fault = meet("sql");
      if (fault === "before") throw new PlannedFault("database or disk is full: SQLITE_FULL");
      if (fault !== null) throw new PlannedFault("the process died");
    });
    const paused = pausedStore(this.store, () => this.#temper.pause());
    const registry = faultyRegistry(
      () => meet("registry"),
      ({ kind }) => void (kind === "deleted" && this.#named.delete(id)),
      () => this.#named.has(id),
    );
    const repository = new PushedRepository({
      id,
      sql,
      chunks: new FaultyChunkStore(paused, ({ operation }) => meet(operation)),
      registry,
      codec,
      family: { open: (target) => this.#open(member, process, target) },
      limits: { ...this.#temper.limits },
    });
    repository.wakeMs ??= member.alarmMs;
    process.repository = repository;
    return (member.process = process);
  }

  #end(member: Member, process: Process): void {
    process.isOver = true;
    if (member.process !== process) return;
    member.alarmMs = process.repository!.wakeMs;
    member.process = null;
    this.#temper.note(`${member.id} dies`);
  }

  #meet(member: Member, process: Process, place: Place): Fault | null {
    if (process.isOver) return "crash";
    if (this.isWatched) return null;
    const fault = this.reach(place);
    if (fault !== null) this.#temper.note(`${fault} at ${place} of ${member.id}`);
    if (fault === "crash") this.#end(member, process);
    return fault;
  }

  /** Another repository, as the process of one reaches it. */
  #open(caller: Member, process: Process, target: string): FamilyMember {
    return new Proxy({} as FamilyMember, {
      get:
        (_, name) =>
        (...args: readonly unknown[]) =>
          this.#carry(caller, process, target, name as keyof FamilyMember, args),
    });
  }

  /** Carries a call and its answer. Only values cross, and an error's message. */
  async #carry(
    caller: Member,
    process: Process,
    target: string,
    name: keyof FamilyMember,
    args: readonly unknown[],
  ): Promise<unknown> {
    const fault = this.#meet(caller, process, "family");
    const sent = structuredClone(args);
    const arrive = async (delay: Promise<void>): Promise<unknown> => {
      await delay;
      const call = ({ repository }: PushedRepository): Promise<unknown> =>
        (repository[name] as (...args: readonly unknown[]) => Promise<unknown>)(...sent);
      return cutAnswer(sent, structuredClone(await this.ask(target, call)), this.#temper.partRows());
    };
    if (fault !== null && fault !== "after") {
      const delay = this.#temper.late();
      if (delay !== null) this.#noteLate(`${name} of ${caller.id} to ${target}`, arrive(delay));
      throw new PlannedFault(fault === "crash" ? "the process died" : `${target} cannot be reached`);
    }
    let result: unknown;
    try {
      result = await arrive(this.#temper.pause());
    } catch (error) {
      throw new Error(`${name} of ${target} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (fault === "after") throw new PlannedFault(`the answer of ${target} was lost`);
    await this.#temper.pause();
    return result;
  }

  #noteLate(what: string, call: Promise<unknown>): void {
    const arrival = call
      .then(
        () => this.#temper.note(`${what} arrives late`),
        (error: unknown) => this.#temper.note(`${what} fails late: ${String(error)}`),
      )
      .finally(() => this.#late.delete(arrival));
    this.#late.add(arrival);
  }
}

function exists(sql: NodeSql): boolean {
  return readRepository(sql)?.deleted === false;
}

function alarmOf({ process, alarmMs }: Member): number | null {
  return process === null ? alarmMs : process.repository!.wakeMs;
}

function setAlarm(member: Member, timeMs: number | null): void {
  if (member.process === null) member.alarmMs = timeMs;
  else member.process.repository!.wakeMs = timeMs;
}
