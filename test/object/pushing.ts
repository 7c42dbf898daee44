/** A whole repository without the runtime, and pushes to it as git would make them. */
import wasm from "../../src/base/codec/holdfast.wasm";
import { CLONE_REQUEST, plannedPack } from "./clone-request.ts";
import { type Codec, instantiateCodec } from "../../src/base/codec/codec.ts";
import { DEFAULT_LIMITS, type Limits } from "../../src/base/format/configured-limits.ts";
import { toHex } from "../../src/base/format/oid.ts";
import { type PushResult, type RefCommand, explainRefusal } from "../../src/contract/push.ts";
import type { PackPlan } from "../../src/base/bytes/pack-plan.ts";
import { streamPack } from "../../src/base/bytes/pack-stream.ts";
import { Repository } from "../../src/object/repository.ts";
import { Traffic } from "../../src/base/pacing/traffic.ts";
import type { WorktreePolicy } from "../../src/contract/env.ts";
import type { Outside } from "../../src/object/state/outside.ts";
import type { FamilyPort } from "../../src/object/state/family.ts";
import type { RepositoryEvent } from "../../src/contract/log-events.ts";
import type { ChunkStore } from "../../src/base/chunks/chunk-store.ts";
import type { RegistryPort } from "../../src/object/store/registry/registry-answers.ts";
import { MemoryChunkStore } from "../harness/memory-chunk-store.ts";
import type { Sql, Transactor } from "../../src/object/store/sql/sql.ts";
import { Tables } from "../../src/object/store/tables.ts";
import { git, tryGit } from "../harness/git.ts";
import { NodeSql } from "./sqlite.ts";
import { fromHex, nodeCodec } from "./stored-repository.ts";
import type { Requester } from "../../src/base/access/caller.ts";
import { ANYONE } from "../harness/requester.ts";

const NULL_HEX = "0".repeat(40);

/** Transactions of a database outside the runtime. */
export class NodeTransactor implements Transactor {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  transactionSync<T>(f: () => T): T {
    this.#sql.exec("BEGIN");
    try {
      const result = f();
      this.#sql.exec("COMMIT");
      return result;
    } catch (error) {
      this.#sql.exec("ROLLBACK");
      throw error;
    }
  }
}

/** A ref's update in hex; null: absent. */
export type HexCommand = readonly [name: string, old: string | null, next: string | null];

/** Further settings of a push. */
export interface PushOptions {
  readonly atomic?: boolean;
  /** Bytes of each piece that the source yields. */
  readonly pieceBytes?: number;
  readonly pushOptions?: readonly string[];
  /** Default: anyone, with open access. */
  readonly requester?: Requester;
}

/** The settings of a repository in a test. */
export interface PushedOptions {
  /** The registry's id of the repository; default: a new one each time. */
  readonly id?: string;
  readonly chunks?: ChunkStore;
  readonly sql?: NodeSql;
  readonly transactor?: Transactor;
  /** By default jobs run when they are due; these change that. */
  readonly limits?: Partial<Limits>;
  /** Default: none, because they would disturb the counts. */
  readonly worktrees?: WorktreePolicy;
  /** Of its isolate; default: one of its own. */
  readonly traffic?: Traffic;
  /** Default: any push is admitted, and announcements go nowhere. */
  readonly registry?: RegistryPort;
  /** Of its isolate; default: one of its own. */
  readonly codec?: Codec;
  /** Default: there are no other repositories. */
  readonly family?: FamilyPort;
  /** Default: nothing is outside. */
  readonly outside?: Partial<Outside>;
}

/** Nobody listens. */
export const NOTHING_OUTSIDE: Outside = {
  wakeListeners: () => undefined,
  checkAddress: () => undefined,
  fetch: () => Promise.reject(new Error("nothing is outside")),
  showsAnswers: true,
  sendToQueue: null,
  tellOwner: async () => false,
  askPolicy: null,
  imports: {
    fetch: () => Promise.reject(new Error("there is no other host")),
    allowsPrivate: false,
    secretsKey: null,
  },
};

/** A deployment with one repository. */
export const NO_FAMILY: FamilyPort = {
  open: (id) => {
    throw new Error(`there is no repository ${id}`);
  },
};

/** The outcome of a push, in the words of its report. */
export interface ToldPush {
  readonly unpack: string;
  readonly refs: readonly { readonly name: string; readonly error: string | null }[];
}

/** Puts the outcome of a push into words. */
export function tellPush({ unpack, refs }: PushResult): ToldPush {
  return {
    unpack: unpack?.message ?? "ok",
    refs: refs.map(({ name, refusal }) => ({ name, error: refusal && explainRefusal(refusal) })),
  };
}

/** A repository that real pushes fill. */
export class PushedRepository {
  readonly sql: NodeSql;
  readonly chunks: ChunkStore;
  readonly repository: Repository;
  readonly events: RepositoryEvent[] = [];
  /** When its jobs run next, null: no job was ever scheduled. */
  wakeMs: number | null = null;

  constructor({
    id = crypto.randomUUID(),
    chunks = new MemoryChunkStore(),
    sql = new NodeSql(),
    transactor,
    limits,
    worktrees = "none",
    traffic = new Traffic(),
    registry,
    codec = instantiateCodec(wasm),
    family = NO_FAMILY,
    outside,
  }: PushedOptions = {}) {
    this.sql = sql;
    this.chunks = chunks;
    this.repository = new Repository({
      id,
      registry: registry ?? {
        admit: async () => true,
        report: async () => null,
        nameOf: async () => ({ owner: "me", name: "repo" }),
        readStanding: async () => ANYONE,
      },
      family,
      outside: { ...NOTHING_OUTSIDE, ...outside },
      erase: async () => sql.erase(),
      sql,
      transactor: transactor ?? new NodeTransactor(sql),
      openChunks: () => this.chunks,
      module: wasm,
      codec,
      worktrees,
      traffic,
      limits: { ...DEFAULT_LIMITS, quietMs: 0, ...limits },
      wakeAt: (timeMs) => (this.wakeMs = timeMs),
      observe: (event) => this.events.push(event),
    });
  }

  /** The tables that the repository has in memory. */
  get tables(): Tables {
    return this.repository.state.tables!;
  }

  /** The tables as a new process would read them. */
  reopen(): Tables {
    return new Tables(this.sql);
  }

  /** Pushes a pack, or none. The registry is told at once, so that only the repository's own jobs
   * wait. */
  async push(commands: readonly HexCommand[], pack: Uint8Array | null, options: PushOptions = {}): Promise<ToldPush> {
    const result = await this.receive(commands, pack, options);
    await this.repository.announce();
    return result;
  }

  /** Pushes a pack, or none, and does nothing else. */
  async receive(
    commands: readonly HexCommand[],
    pack: Uint8Array | null,
    options: PushOptions = {},
  ): Promise<ToldPush> {
    const { unpack, refs } = await this.repository.receive({
      commands: commands.map(encodeCommand),
      atomic: options.atomic ?? false,
      pushOptions: options.pushOptions ?? [],
      shallow: [],
      pack: pack === null ? null : sourceOf(pack, options.pieceBytes ?? pack.length),
      agent: null,
      requester: options.requester ?? ANYONE,
      progress: () => undefined,
    });
    return tellPush({ unpack, refs });
  }

  /** Brings refs to their values in a git repository, as `git push` would.
   * @param refs pairs of ref and revision; null: delete it */
  async pushFrom(
    dir: string,
    refs: Readonly<Record<string, string | null>>,
    options: PushOptions = {},
  ): Promise<ToldPush> {
    const commands: HexCommand[] = [];
    for (const [name, revision] of Object.entries(refs)) {
      const isOid = revision === null || /^[0-9a-f]{40}$/.test(revision);
      const oid = isOid ? revision : await git(dir, "rev-parse", "--verify", revision);
      commands.push([name, this.refs().get(name) ?? null, oid]);
    }
    const wants = commands.map(([, , oid]) => oid).filter((oid) => oid !== null);
    const haves = [...this.refs().values()].map((oid) => `^${oid}`);
    const pack = wants.length === 0 ? null : await packRevisions(dir, [...wants, ...haves]);
    return this.push(commands, pack, options);
  }

  /** Every ref's id. */
  refs(): Map<string, string> {
    const all = this.repository.state.tables?.refs.all();
    return new Map(all?.names.map((name, i) => [name, toHex(all.oids, i * 20)]));
  }

  /** The pack for a client that wants these objects and has nothing. */
  async clone(...wants: readonly string[]): Promise<Buffer> {
    return this.stream(await this.planClone(...wants));
  }

  /** The plan of that pack. */
  async planClone(...wants: readonly string[]): Promise<PackPlan> {
    const outcome = await this.repository.fetch({ ...CLONE_REQUEST, wants: fromHex(wants.join("")) });
    // Nothing stores a response here, and the next fetch of the same kind would wait for it.
    if (outcome.kind === "negotiated" && outcome.pack?.kind === "store") {
      await this.repository.finishResponse(outcome.pack.objectKey, null);
    }
    return plannedPack(outcome);
  }

  /** The pack that a plan describes. */
  async stream(plan: PackPlan): Promise<Buffer> {
    const slices: Uint8Array[] = [];
    for await (const batch of streamPack(plan, this.chunks, nodeCodec))
      slices.push(...batch.map((slice) => slice.slice()));
    return Buffer.concat(slices);
  }

  /** Every stored R2 key. */
  async keys(): Promise<string[]> {
    return Array.fromAsync(this.chunks.list(""));
  }
}

/** A thin pack of these revisions, as push makes it. */
export async function packRevisions(
  dir: string,
  revisions: readonly string[],
  ...options: readonly string[]
): Promise<Buffer> {
  const args = ["pack-objects", "-q", "--revs", "--stdout", "--thin", "--delta-base-offset", ...options];
  const { code, stdoutBytes, stderr } = await tryGit(dir, args, { stdin: `${revisions.join("\n")}\n` });
  if (code !== 0) throw new Error(stderr);
  return stdoutBytes;
}

function encodeCommand([name, old, next]: HexCommand): RefCommand {
  return { name, old: fromHex(old ?? NULL_HEX), new: fromHex(next ?? NULL_HEX) };
}

function sourceOf(pack: Uint8Array, pieceBytes: number): { read(minimumBytes: number): Promise<Uint8Array | null> } {
  let at = 0;
  return {
    read: async (minimumBytes) => {
      if (at >= pack.length) return null;
      const piece = pack.slice(at, at + Math.max(minimumBytes, pieceBytes));
      at += piece.length;
      return piece;
    },
  };
}
