// An upload session: a push that is too large for one request. Its packs come as parts, are indexed
// as steps, and at last its refs move at once. Whatever happens in between, what was acknowledged
// is in the tables, and a job ends what nobody continues.
import { RefRules } from "../../base/access/ref-rules.ts";
import { GitError } from "../../base/format/errors.ts";
import { MAX_UPLOADS, MAX_UPLOAD_PARTS, UPLOAD_LIFE_MS } from "../../base/format/limits.ts";
import { OID_BYTES, toHex } from "../../base/format/oid.ts";
import { uploadPrefix, type StoredUpload } from "../store/jobs/upload-table.ts";
import type { Tables } from "../store/tables.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { changeOf } from "../push/apply-push.ts";
import { QuotaCheck } from "../state/quota-check.ts";
import { findRefused, type RefOutcome } from "../../contract/push.ts";
import { refusalError, refuseWhole } from "../state/ref-refusal.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import type { NewUpload, UploadStatus } from "../../contract/uploads.ts";

/** After this long, continuing a session writes anew when it ends. */
const RENEW_MS = 60 * 60_000;

/** Begins a session.
 * @throws GitError "forbidden" when none of the refs may move, "too-large" beyond the quota,
 * "conflict" when there are too many sessions */
export async function beginUpload(repository: OpenRepository, wanted: NewUpload): Promise<UploadStatus> {
  const { state, tables, requester } = repository;
  checkRefs(repository, wanted);
  new QuotaCheck(tables, requester, state.platform.limits).check(wanted.sizeBytes, 0);
  if (tables.uploads.count() >= MAX_UPLOADS) {
    const reason = `the repository has ${MAX_UPLOADS} upload sessions; DELETE some, or wait: each ends a day after it was last continued`;
    throw new GitError("conflict", { what: "upload", reason });
  }
  const id = crypto.randomUUID();
  const nowMs = Date.now();
  state.transactAside(() => {
    tables.uploads.begin(id, nowMs, nowMs + UPLOAD_LIFE_MS, wanted.options);
    tables.jobs.add("abandon", id, nowMs + UPLOAD_LIFE_MS);
  });
  state.scheduleJobs();
  return readUpload(repository, id);
}

/** Refuses changes of which none may be made, whatever the packs hold. */
function checkRefs({ tables, requester }: OpenRepository, { refs, atomic }: NewUpload): void {
  const rules = new RefRules(tables.refRules.all(), requester);
  if (rules.isEmpty) return;
  const outcomes = refs.map((command): RefOutcome => {
    const reason = rules.refuse(changeOf(command, null));
    return { name: command.name, refusal: reason === null ? null : { kind: "forbidden", reason } };
  });
  const refused = findRefused(refuseWhole(outcomes, atomic) ?? []);
  if (refused !== null) throw refusalError(refused.name, refused.refusal);
}

/** What has arrived of a session.
 * @throws GitError "not-found" */
export async function readUpload({ state, tables }: OpenRepository, id: string): Promise<UploadStatus> {
  const { tips, options: _, startedMs: __, ...upload } = findUpload(tables, id);
  const { limits } = state.platform;
  return {
    ...upload,
    tips: Array.from({ length: tips.length / OID_BYTES }, (_, i) => toHex(tips, i * OID_BYTES)),
    parts: tables.uploads.parts(id).map(({ part, sizeBytes, checksum }) => ({ part, sizeBytes, checksum })),
    underWay: state.stepsUnderWay.get(id) ?? null,
    limits: {
      partBytes: limits.maxPartBytes,
      parts: MAX_UPLOAD_PARTS,
      stepBytes: limits.maxPackSizeBytes,
      stepObjects: limits.maxPackObjects,
    },
  };
}

/** Ends a session; its bytes are removed. What its steps brought is pruned later, as anything is
 * that no ref reaches.
 * @throws GitError "not-found" */
export async function endUpload({ state, tables }: OpenRepository, id: string): Promise<void> {
  findUpload(tables, id);
  end(state, tables, id, Date.now());
}

/** The job `abandon`: ends a session that nobody has continued. */
export function abandonUpload(state: RepositoryState, id: string, nowMs: number): void {
  const { tables } = state;
  const upload = tables?.uploads.find(id) ?? null;
  if (tables === null || upload === null) return;
  if (upload.endsMs > nowMs) tables.jobs.add("abandon", id, upload.endsMs);
  else end(state, tables, id, nowMs);
}

function end(state: RepositoryState, tables: Tables, id: string, nowMs: number): void {
  const { isDone } = tables.uploads.find(id)!;
  state.transactAside(() => {
    tables.uploads.remove(id);
    tables.jobs.cancel("abandon", id);
    tables.jobs.add("sweep", uploadPrefix(state.key, id), nowMs);
    if (!isDone) tables.jobs.add("prune", "", nowMs + state.platform.limits.pruneGraceMs);
  });
  state.awaitedUploads.get(id)?.();
  state.scheduleJobs();
}

/** A session that exists.
 * @throws GitError "not-found" */
export function findUpload({ uploads }: Tables, id: string): StoredUpload {
  const upload = uploads.find(id);
  if (upload !== null) return upload;
  const reason =
    "there is none with this id, or it has ended: it was deleted, or not continued for a day; begin another";
  throw new GitError("not-found", { what: "upload", reason });
}

/** A session whose refs have not moved.
 * @throws GitError "not-found", "conflict" */
export function findOpenUpload(tables: Tables, id: string): StoredUpload {
  const upload = findUpload(tables, id);
  if (!upload.isDone) return upload;
  throw new GitError("conflict", { what: "upload", reason: "it is complete; begin another" });
}

/** When a session that is continued now ends; null: that need not be written. */
export function renewedEnd({ endsMs }: Pick<StoredUpload, "endsMs">, nowMs: number): number | null {
  return endsMs - nowMs < UPLOAD_LIFE_MS - RENEW_MS ? nowMs + UPLOAD_LIFE_MS : null;
}
