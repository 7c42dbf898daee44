import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { concatOids, isNullOid, NULL_OID, OID_BYTES, type Oid, toHex } from "../../base/format/oid.ts";
import { ChunkTable } from "../store/index/chunk-table.ts";
import { ObjectIndex } from "../store/index/object-index.ts";
import { LfsTable } from "../store/lfs/lfs-table.ts";
import { SCHEMA_VERSION, createTables } from "../store/sql/schema.ts";
import { type CopyPart, writePart } from "../store/forks/table-copy.ts";
import type { PushedRef } from "../store/refs/push-log.ts";
import type { RefColumns } from "../../contract/refs.ts";
import type { Tables } from "../store/tables.ts";
import type { ForkOrigin } from "../state/family.ts";
import { keysByOwner } from "../state/chunk-owners.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { keepOnly } from "./mask.ts";
import { nextPinVersion, pinNeeded, UNPIN_AFTER_MS, unpinLater } from "./pins.ts";
import type { ForkRequest } from "../../contract/merges.ts";
import { HEADS, TAGS } from "../../base/format/ref-name.ts";

/** How often the copy begins again because rows moved in the parent. */
const ATTEMPTS = 4;

/** When the pins of a fork that failed are taken back. A call to the parent that was given up has
 * arrived by then. */
const UNPIN_REFUSED_MS = 60_000;

/** A ref to take over. */
interface TakenRef {
  readonly name: string;
  readonly oid: Oid;
  readonly peeled: Oid | null;
}

/** Makes the repository, which must not exist, a fork of another one.
 * @throws GitError "not-found" when the parent or a branch is missing, "unavailable" when the
 * parent's rows move each time */
export async function fork(repository: RepositoryState, request: ForkRequest): Promise<void> {
  const endPin = repository.holds.begin("pin");
  try {
    unpinLater(repository, request.parent, UNPIN_AFTER_MS);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const origin = await beginAt(repository, request);
      if (!(await copyTables(repository, request, origin))) continue;
      finish(repository, request, origin);
      return;
    }
    throw new GitError("unavailable", { what: "the fork", reason: "the repository is being repacked; try again" });
  } catch (error) {
    // A refused fork keeps nothing in the parent.
    unpinLater(repository, request.parent, UNPIN_REFUSED_MS);
    throw error;
  } finally {
    endPin();
    repository.scheduleJobs();
  }
}

async function beginAt({ platform }: RepositoryState, { parent }: ForkRequest): Promise<ForkOrigin> {
  const origin = await platform.family.open(parent).beginFork(platform.id, nextPinVersion());
  if (origin === "missing") throw new GitError("not-found", { subject: "repository" });
  if (origin === "overtaken") {
    throw new GitError("unavailable", { what: "the fork", reason: "a later request came before; try again" });
  }
  if (origin.schema === SCHEMA_VERSION) return origin;
  throw new GitError("unavailable", { what: "the fork", reason: "a new release is being deployed; try again" });
}

/** Copies the tables, and pins what is in R2 objects of further repositories.
 * @returns false: rows have moved meanwhile */
async function copyTables(
  repository: RepositoryState,
  { parent }: ForkRequest,
  { first, layout }: ForkOrigin,
): Promise<boolean> {
  const { platform } = repository;
  const { sql, transactor, family } = platform;
  const lfs = new LfsTable(sql);
  transactor.transactionSync(() => {
    createTables(sql);
    lfs.createOfFork();
  });
  for (let part: CopyPart | null = first; ;) {
    const copied: CopyPart = part;
    transactor.transactionSync(() => writePart(sql, copied));
    if (copied.next === null) break;
    part = await family.open(parent).readForkPart(layout, copied.next);
    if (part === null) return false;
  }
  const lfsKeys = lfs.keys();
  const needed = keysByOwner([...new ChunkTable(sql, new ObjectIndex(sql)).keys(), ...lfsKeys]);
  for (const [owner, keys] of needed) {
    // Its chunks are pinned already. An LFS object does not move, but may have come since then.
    if (owner === parent && lfsKeys.length === 0) continue;
    unpinLater(repository, owner, UNPIN_AFTER_MS);
    await pinNeeded(repository, owner, keys);
  }
  return true;
}

/** Makes the repository exist. */
function finish(repository: RepositoryState, request: ForkRequest, origin: ForkOrigin): void {
  const { expiresMs, who, parent } = request;
  const nowMs = Date.now();
  repository.createFork({ fsck: origin.fsck, parent, expiresMs }, (tables) => {
    const taken = chooseRefs(tables, origin.refs, request.branches);
    const pinned = keysByOwner(tables.neededKeys());
    keepOnly(tables, concatOids(taken.map(({ oid }) => oid)));
    keepNamedLfs(tables, nowMs);
    unpinUnneeded(tables, parent, pinned, nowMs);
    enterRefs(tables, taken);
    const branches = taken.filter(({ name }) => name.startsWith(HEADS));
    const head = taken.some(({ name }) => name === origin.head) ? origin.head : null;
    const named = head ?? (request.branches === null ? origin.head : branches[0]!.name);
    if (named !== null) tables.refs.setHead(named);
    tables.shared.add(tables.objects.present());
    // Files of branches would be copied to R2 one by one: only if somebody asks for them.
    tables.worktrees.setWanted([]);
    const refs = taken.map(({ name, oid }): PushedRef => [name, null, toHex(oid)]);
    tables.pushes.append({ timeMs: nowMs, who, refs, packBytes: 0, objects: 0 });
    if (expiresMs !== null) tables.jobs.add("lapse", "", expiresMs);
    const moved = taken.map(({ name, oid }) => ({ name, old: NULL_OID, new: oid }));
    const { limits, worktrees } = repository.platform;
    const applied = {
      tables,
      moved,
      isRefused: false,
      hasWritten: false,
      movesHead: false,
      isStep: false,
      limits,
      worktrees,
      nowMs,
    };
    for (const follow of repository.followers) follow(applied);
  });
}

/** Leaves the fork only the LFS objects that its refs are known to reach: those that pointer files
 * name among its objects. As long as some pointer files of the parent are unknown, the others are
 * withheld until the job has looked for these. */
function keepNamedLfs({ lfs, objects, jobs }: Tables, nowMs: number): void {
  lfs.keepPointers(objects.present());
  lfs.withholdUnnamed();
  if (lfs.unread() === 0) lfs.dropWithheld();
  else if (lfs.isWithholding()) jobs.add("collect", "", nowMs);
}

/** Keeps the pins that the fork needs, and schedules the removal of the others.
 * @param pinned keys by their owner */
function unpinUnneeded(
  tables: Tables,
  parent: string,
  pinned: ReadonlyMap<string, ReadonlySet<string>>,
  nowMs: number,
): void {
  const { jobs } = tables;
  const needed = keysByOwner(tables.neededKeys());
  for (const owner of new Set([parent, ...pinned.keys()])) {
    if (pinned.get(owner)?.size === needed.get(owner)?.size) jobs.cancel("unpin", owner);
    else jobs.add("unpin", owner, nowMs);
  }
}

/** The refs to take over.
 * @throws GitError "not-found" when a branch is missing */
function chooseRefs({ objects, graph }: Tables, refs: RefColumns, branches: readonly string[] | null): TakenRef[] {
  const all = refs.names.map((name, i): TakenRef => {
    const at = (packed: Uint8Array): Oid => packed.slice(i * OID_BYTES, (i + 1) * OID_BYTES);
    return { name, oid: at(refs.oids), peeled: isNullOid(at(refs.peeled)) ? null : at(refs.peeled) };
  });
  if (branches === null) return all;
  const byName = new Map(all.map((ref) => [ref.name, ref]));
  const chosen = [...new Set(branches)].map((branch) => {
    const ref = byName.get(HEADS + branch);
    if (ref === undefined) throw new GitError("not-found", { what: "branch", reason: decodeText(branch) });
    return ref;
  });
  const positionsOf = (oids: readonly Oid[]): number[] =>
    Array.from(objects.lookupMany(concatOids(oids)).number, (number) => graph.position(number));
  const reached = graph.ancestors(positionsOf(chosen.map(({ oid }) => oid)));
  const tags = all.filter(({ name }) => name.startsWith(TAGS));
  const targets = positionsOf(tags.map(({ oid, peeled }) => peeled ?? oid));
  return [...chosen, ...tags.filter((_, i) => targets[i]! >= 0 && reached.has(targets[i]!))];
}

function enterRefs({ refs }: Tables, taken: readonly TakenRef[]): void {
  const changes = refs.change(taken.map(({ name }) => name));
  for (const { name, oid, peeled } of taken) changes.compareAndSwap(name, null, oid, peeled);
  changes.write();
}
