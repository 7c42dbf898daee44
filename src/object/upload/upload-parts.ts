import { GitError } from "../../base/format/errors.ts";
import { checkLimit, MAX_UPLOAD_PARTS } from "../../base/format/limits.ts";
import { uploadPrefix } from "../store/jobs/upload-table.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { QuotaCheck } from "../state/quota-check.ts";
import { findOpenUpload, renewedEnd } from "./upload.ts";
import type { NewPart } from "../../contract/uploads.ts";

/** Decides whether a part is taken, before it is read.
 * @returns the R2 key to store it at; null: it is there already
 * @throws GitError "not-found", "conflict" when the session is complete, "too-large" beyond a limit
 * or the quota */
export async function beginPart(repository: OpenRepository, part: NewPart): Promise<string | null> {
  return checkPart(repository, part) ? null : `${uploadPrefix(repository.state.key, part.id)}${crypto.randomUUID()}`;
}

/** Enters a part that is stored. One of the same number goes.
 * @throws GitError as `beginPart`: the session may have ended meanwhile, or the quota been used */
export async function addPart(repository: OpenRepository, { key, ...part }: NewPart & { key: string }): Promise<void> {
  const { state } = repository;
  const nowMs = Date.now();
  const leave = (unused: string): void => {
    repository.tables.jobs.add("sweep", unused, nowMs);
    state.scheduleJobs();
  };
  try {
    state.transactAside(() => {
      const { uploads } = repository.tables;
      const isThere = checkPart(repository, part);
      const former = uploads.parts(part.id).find((other) => other.part === part.part);
      if (isThere) return leave(key);
      uploads.putPart(part.id, { ...part, key });
      if (former !== undefined) leave(former.key);
      const endsMs = renewedEnd(findOpenUpload(repository.tables, part.id), nowMs);
      if (endsMs !== null) uploads.renew(part.id, endsMs);
    });
    state.awaitedUploads.get(part.id)?.();
  } catch (error) {
    leave(key);
    throw error;
  }
}

/** @returns whether exactly this part is stored */
function checkPart({ state, tables, requester }: OpenRepository, { id, part, sizeBytes, checksum }: NewPart): boolean {
  const { limits } = state.platform;
  findOpenUpload(tables, id);
  const stored = tables.uploads.parts(id);
  const former = stored.find((other) => other.part === part);
  if (former?.checksum === checksum && former.sizeBytes === sizeBytes) return true;
  if (sizeBytes === 0) throw new GitError("invalid", { what: "part", reason: "it is empty" });
  checkLimit("a part (bytes)", limits.maxPartBytes, sizeBytes, "cut the pack into smaller parts");
  const count = stored.length + (former === undefined ? 1 : 0);
  checkLimit("the number of parts that are no step yet", MAX_UPLOAD_PARTS, count, "index some as a step first");
  new QuotaCheck(tables, requester, limits, former?.sizeBytes).check(sizeBytes, 0);
  return false;
}
