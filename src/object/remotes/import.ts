// Begins, shows and ends an import. Its run is in `run-import.ts`.
import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import type { ImportRecord, NewImport, ImportStatus, ImportChange } from "../../contract/remotes.ts";
import { checkRemoteSettings } from "../../contract/remote-settings.ts";
import type { Tables } from "../store/tables.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { checkAddress } from "./address.ts";
import { seal } from "./sealed.ts";
import type { RepositoryState } from "../state/repository-state.ts";

/** Begins an import, or a mirror.
 * @throws GitError "invalid" for an address that may not be requested, "conflict" while another
 * import runs, and for a mirror in a repository with refs that did not come from there,
 * "unsupported" when the deployment cannot store a credential */
export async function beginImport(repository: OpenRepository, wanted: NewImport): Promise<ImportStatus> {
  const { state, requester } = repository;
  const {
    id,
    outside: { imports },
  } = state.platform;
  checkRemoteSettings(wanted);
  checkAddress(wanted.url, imports.allowsPrivate);
  const { authorization, bringsLfs, ...settings } = wanted;
  const sealed = authorization === null ? null : await seal(imports.secretsKey, id, authorization);
  const startedMs = Date.now();
  const { tables } = repository;
  state.transactAside(() => {
    checkFree(tables, wanted);
    const record: ImportRecord = {
      ...settings,
      session: crypto.randomUUID(),
      caller: requester.caller,
      state: "running",
      error: null,
      attempts: 0,
      refsPerStep: null,
      depths: null,
      refs: 0,
      steps: 0,
      objects: 0,
      packBytes: 0,
      lfs: bringsLfs ? { after: "", objects: 0, bytes: 0, missing: 0 } : null,
      startedMs,
      syncedMs: null,
    };
    tables.imports.begin(record, sealed);
    tables.jobs.add("import", "", startedMs);
  });
  state.scheduleJobs();
  return readImport(repository);
}

/** Reads the state of the last import.
 * @throws GitError "not-found" when there is none */
export async function readImport({ state, tables }: OpenRepository): Promise<ImportStatus> {
  const { session, caller: _, attempts: __, refsPerStep: ___, depths: ____, ...record } = find(tables);
  return {
    ...record,
    hasAuthorization: tables.imports.readAuthorization() !== null,
    underWay: state.stepsUnderWay.get(session) ?? null,
    nextMs: tables.jobs.find("import", "")?.dueMs ?? null,
  };
}

/** Makes a mirror check its upstream now.
 * @throws GitError "not-found" when there is no import, "conflict" when it has ended */
export async function syncImport(repository: OpenRepository): Promise<ImportStatus> {
  const { state, tables } = repository;
  const { state: standing } = find(tables);
  if (standing === "done" || standing === "failed")
    throw new GitError("conflict", { what: "import", reason: "it has ended; POST begins another" });
  tables.jobs.add("import", "", Date.now());
  state.scheduleJobs();
  return readImport(repository);
}

/** Changes an import, or turns a mirror into an ordinary repository.
 * @throws GitError "not-found" when there is none, "conflict" for the interval of an import that is
 * not a mirror and the credential of one that has ended, "unsupported" as `beginImport` */
export async function changeImport(repository: OpenRepository, change: ImportChange): Promise<ImportStatus> {
  const { state } = repository;
  const {
    id,
    outside: { imports },
  } = state.platform;
  const { authorization } = change;
  if (authorization !== undefined) checkRemoteSettings({ authorization });
  const sealed =
    authorization === undefined || authorization === null ? null : await seal(imports.secretsKey, id, authorization);
  const { tables } = repository;
  const record = find(tables);
  checkChange(record, change);
  state.transactAside(() => {
    if (authorization !== undefined) tables.imports.begin(record, sealed);
    if (change.isMirror === false && record.isMirror) {
      // A run in progress ends, since it belongs to another session.
      const released = { ...record, session: crypto.randomUUID(), isMirror: false, state: "done" } as const;
      tables.jobs.cancel("import", "");
      endSession(state, tables, record.session);
      tables.imports.update(released);
    } else if (change.intervalMs !== undefined) {
      tables.imports.update({ ...record, intervalMs: change.intervalMs });
      if (record.state === "waiting") {
        tables.jobs.cancel("import", "");
        tables.jobs.add("import", "", Date.now() + change.intervalMs);
      }
    }
    state.platform.outside.wakeListeners();
  });
  state.scheduleJobs();
  return readImport(repository);
}

/** Ends an import, and forgets it: objects that are not reachable yet are removed. A mirror's refs
 * stay, and may be changed here from now on.
 * @throws GitError "not-found" when there is none */
export async function endImport({ state, tables }: OpenRepository): Promise<void> {
  const { session } = find(tables);
  state.transactAside(() => {
    tables.jobs.cancel("import", "");
    tables.imports.remove();
    endSession(state, tables, session);
  });
  state.scheduleJobs();
}

/** Removes the upload session of an import, if it has one. Objects of its steps are pruned later,
 * like all that no ref reaches. Must run in a transaction. */
export function endSession(state: RepositoryState, tables: Tables, session: string): void {
  if (tables.uploads.find(session) === null) return;
  tables.uploads.remove(session);
  tables.jobs.add("prune", "", Date.now() + state.platform.limits.pruneGraceMs);
}

function find({ imports }: Tables): ImportRecord {
  const record = imports.read();
  if (record === null) throw new GitError("not-found", { what: "import", reason: "none was begun; POST begins one" });
  return record;
}

function checkChange({ isMirror, state }: ImportRecord, { intervalMs, authorization }: ImportChange): void {
  const refuse = (reason: string): GitError => new GitError("conflict", { what: "import", reason });
  if (intervalMs !== undefined && !isMirror) throw refuse("it is no mirror, and looks only once");
  const hasEnded = state === "done" || state === "failed";
  if (authorization !== undefined && hasEnded) throw refuse("it has ended; POST begins another");
}

/** Refuses an import that would mix with another import or with other refs. */
function checkFree({ imports, refs }: Tables, { url, isMirror }: NewImport): void {
  const last = imports.read();
  const refuse = (reason: string): GitError => new GitError("conflict", { what: "import", reason });
  if (last?.state === "running" || last?.state === "waiting")
    throw refuse(`the repository is being imported from ${last.url}; DELETE ends that`);
  // An import that is not a mirror leaves existing refs as they are.
  const [found] = isMirror && last?.url !== url ? refs.page("refs/", null, 1) : [];
  if (found === undefined) return;
  const reason = `the repository has refs already, which a mirror would remove: ${decodeText(found.name)} is one`;
  throw refuse(`${reason}; mirror into a new repository`);
}
