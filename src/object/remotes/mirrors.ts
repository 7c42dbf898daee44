// Creates, shows, changes and removes mirrors. Their run is in `run-mirror.ts`.
import type { Tables } from "../store/tables.ts";
import { GitError } from "../../base/format/errors.ts";
import type { RefCommand } from "../../contract/push.ts";
import { OID_BYTES, toHex } from "../../base/format/oid.ts";
import type { MirroredLfs, MirrorRecord, NewMirror, MirrorStatus, MirrorRef } from "../../contract/remotes.ts";
import { checkRemoteSettings } from "../../contract/remote-settings.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { checkAddress } from "./address.ts";
import { seal } from "./sealed.ts";
import { MAX_MIRRORS } from "../../base/format/table-limits.ts";

/** Creates a mirror, and starts its first run.
 * @throws GitError "invalid" for an address that may not be requested, "conflict" when there are
 * too many, "unsupported" when the deployment cannot store a credential */
export async function createMirror(repository: OpenRepository, wanted: NewMirror): Promise<MirrorStatus> {
  const { state, tables } = repository;
  checkRemoteSettings(wanted);
  checkTarget(repository, wanted.url);
  const id = crypto.randomUUID();
  const { authorization, sendsLfs, ...settings } = wanted;
  const sealed = await sealFor(repository, id, authorization);
  const nowMs = Date.now();
  const record: MirrorRecord = {
    ...settings,
    ...READY,
    id,
    session: crypto.randomUUID(),
    createdMs: nowMs,
    syncedMs: null,
    refs: 0,
    refused: 0,
    extra: 0,
    pushes: 0,
    objects: 0,
    packBytes: 0,
    lfs: sendsLfs ? NO_LFS_YET : null,
  };
  state.transactAside(() => {
    if (tables.mirrors.all().length >= MAX_MIRRORS) {
      const reason = `there are ${MAX_MIRRORS}; delete one first`;
      throw new GitError("conflict", { what: "mirror", reason });
    }
    tables.mirrors.put(record, sealed);
    tables.jobs.add("mirror", id, nowMs);
  });
  state.scheduleJobs();
  return show(repository, record);
}

/** Lists all mirrors, the oldest first. */
export async function mirrors(repository: OpenRepository): Promise<MirrorStatus[]> {
  return repository.tables.mirrors.all().map((record) => show(repository, record));
}

/** Reads one mirror. @throws GitError "not-found" */
export async function mirror(repository: OpenRepository, id: string): Promise<MirrorStatus> {
  return show(repository, find(repository.tables, id));
}

/** Changes a mirror, and starts a run with its new settings. A new address without a new credential
 * has none.
 * @throws GitError "not-found", and as `createMirror` */
export async function changeMirror(
  repository: OpenRepository,
  { id, authorization, sendsLfs, ...change }: Partial<NewMirror> & { readonly id: string },
): Promise<MirrorStatus> {
  const { state } = repository;
  const before = find(repository.tables, id);
  const url = change.url ?? before.url;
  checkRemoteSettings({ ...change, ...(authorization !== undefined && { authorization }) });
  checkTarget(repository, url);
  const isElsewhere = url !== before.url;
  const sealed = authorization === undefined ? null : await sealFor(repository, id, authorization);
  const { tables } = repository;
  const found = find(tables, id);
  const lfs = sendsLfs === false ? null : sendsLfs === true ? (found.lfs ?? NO_LFS_YET) : (found.lfs ?? null);
  const record = { ...found, ...change, ...READY, lfs: lfs && behind(lfs), session: crypto.randomUUID() };
  const isKept = authorization === undefined && !isElsewhere;
  state.transactAside(() => {
    if (isElsewhere) tables.mirrors.forgetRefs(id);
    tables.mirrors.put(
      isElsewhere ? { ...record, syncedMs: null } : record,
      isKept ? tables.mirrors.readAuthorization(id) : sealed,
    );
    tables.jobs.add("mirror", id, Date.now());
  });
  state.scheduleJobs();
  return show(repository, record);
}

/** Starts a run now, regardless of earlier failures. @throws GitError "not-found" */
export async function syncMirror(repository: OpenRepository, id: string): Promise<MirrorStatus> {
  const { state, tables } = repository;
  const found = find(tables, id);
  const record = { ...found, dueMs: 0, lfs: found.lfs ? behind(found.lfs) : null };
  state.transactAside(() => {
    tables.mirrors.update(record);
    tables.jobs.add("mirror", id, Date.now());
  });
  state.scheduleJobs();
  return show(repository, record);
}

/** Removes a mirror; the target stays as it is. @throws GitError "not-found" */
export async function deleteMirror({ state, tables }: OpenRepository, id: string): Promise<void> {
  find(tables, id);
  state.transactAside(() => {
    tables.jobs.cancel("mirror", id);
    tables.mirrors.remove(id);
  });
}

/** Reads a page of a mirror's refs, by name.
 * @param after the last name of the previous page; null: from the beginning
 * @param isRefused whether only refs are listed that differ at the target for a reason
 * @throws GitError "not-found" */
export async function mirrorRefs(
  { tables }: OpenRepository,
  query: { readonly id: string; readonly after: string | null; readonly limit: number; readonly isRefused: boolean },
): Promise<{ refs: MirrorRef[]; isLast: boolean }> {
  const { prefixes } = find(tables, query.id);
  const { names, oids } = tables.refs.withPrefixes(prefixes);
  const found = new Map(names.map((name, i): [string, MirrorRef] => [name, newRef(name, toHex(oids, i * OID_BYTES))]));
  for (const { name, oid, refusal } of tables.mirrors.refs(query.id)) {
    const ref = found.get(name) ?? newRef(name, null);
    found.set(name, { ...ref, there: oid === null ? null : toHex(oid), refusal });
  }
  const listed = [...found.values()]
    .filter(
      ({ name, refusal }) => (query.after === null || name > query.after) && (!query.isRefused || refusal !== null),
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { refs: listed.slice(0, query.limit), isLast: listed.length <= query.limit };
}

/** The place of a mirror's credential; it cannot be decrypted for another place. */
export function credentialPlace(repository: string, mirrorId: string): string {
  return `${repository} mirror ${mirrorId}`;
}

/** Fields of a mirror without failures. */
const READY = { failures: 0, dueMs: 0, error: null };

/** LFS state of a mirror whose target has been sent no objects. */
const NO_LFS_YET: MirroredLfs = { isBehind: true, objects: 0, bytes: 0, missing: 0, refused: 0, refusal: null };

/** Makes the next run send all objects that the target was not sent. */
function behind(lfs: MirroredLfs): MirroredLfs {
  return { ...lfs, isBehind: true };
}

function newRef(name: string, here: string | null): MirrorRef {
  return { name, here, there: null, refusal: null };
}

function checkTarget({ state }: OpenRepository, url: string): void {
  checkAddress(url, state.platform.outside.imports.allowsPrivate);
}

function sealFor({ state }: OpenRepository, id: string, authorization: string | null): Promise<Uint8Array> | null {
  const { platform } = state;
  if (authorization === null) return null;
  return seal(platform.outside.imports.secretsKey, credentialPlace(platform.id, id), authorization);
}

function find({ mirrors: table }: Tables, id: string): MirrorRecord {
  const record = table.find(id);
  if (record === null) throw new GitError("not-found", { what: "mirror" });
  return record;
}

function show(
  { state, tables }: OpenRepository,
  { session: _session, dueMs: _dueMs, ...record }: MirrorRecord,
): MirrorStatus {
  const nextMs = tables.jobs.find("mirror", record.id)?.dueMs ?? null;
  return {
    ...record,
    lfs: record.lfs ?? null,
    state: record.failures > 0 ? "failing" : nextMs === null ? "synced" : "pending",
    hasAuthorization: tables.mirrors.readAuthorization(record.id) !== null,
    underWay: state.stepsUnderWay.get(record.id) ?? null,
    nextMs,
  };
}

/** Adds the jobs of the mirrors that include moved refs. Must run in the push's transaction.
 * Without a mirror it writes nothing.
 * @param moved the commands that moved their refs */
export function scheduleMirrors({ mirrors, jobs }: Tables, moved: readonly RefCommand[], nowMs: number): void {
  for (const { id, prefixes, dueMs } of mirrors.all()) {
    const isMirrored = ({ name }: RefCommand): boolean => prefixes.some((prefix) => name.startsWith(prefix));
    if (moved.some(isMirrored)) jobs.add("mirror", id, Math.max(nowMs, dueMs));
  }
}
