// Sends LFS objects to a mirror's target: those that pointer files name, before the refs that need
// them.
import { GitError } from "../../base/format/errors.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { MirroredLfs } from "../../contract/remotes.ts";
import type { StoredLfsObject } from "../../contract/lfs.ts";
import type { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import type { GitServer } from "./git-server.ts";
import { LFS_BATCH_OBJECTS } from "./lfs-server.ts";
import type { StepProgress } from "../../contract/uploads.ts";
import { sendLfs } from "./send-lfs.ts";

/** Environment of a mirror's run, for sending objects. */
export interface LfsRun {
  readonly server: GitServer;
  readonly chunks: ChunkStore;
  /** Whether objects that the target refuses are skipped; else they are an error. */
  readonly leavesRefused: boolean;
  /** The current tables. @throws GitError when the mirror was changed or has ended */
  tables(): Tables;
  /** Adds objects that the target accepted to the counts; called from time to time. */
  noteSent(objects: number, bytes: number): void;
  /** Shows the progress in bytes. */
  show(progress: StepProgress): void;
}

/** Objects that the target lacks after a run. */
export type LeftLfs = Pick<MirroredLfs, "missing" | "refused" | "refusal">;

/** The value for a target that has all objects. */
export const NOTHING_LEFT: LeftLfs = { missing: 0, refused: 0, refusal: null };

/** Sends the objects that pointer files name. After a failure, objects that the target has are not
 * sent again, since it lists them.
 * @param among the pointer files, and any other objects
 * @throws GitError as `sendLfs`, "invalid" when the target refuses objects */
export async function mirrorLfs(run: LfsRun, among: NumberSet): Promise<LeftLfs> {
  const tables = run.tables();
  const oids = [...new Set(tables.lfs.pointersAmong(among).map(({ oid }) => oid))];
  checkNoted(tables, among);
  let left = NOTHING_LEFT;
  for (let from = 0; from < oids.length; from += LFS_BATCH_OBJECTS) {
    const batch = oids.slice(from, from + LFS_BATCH_OBJECTS);
    const stored = [...run.tables().lfs.findMany(batch).values()];
    const refused = stored.length === 0 ? new Map<string, string>() : await sendBatch(run, stored);
    const [first] = refused;
    left = {
      missing: left.missing + batch.length - stored.length,
      refused: left.refused + refused.size,
      refusal: left.refusal ?? (first === undefined ? null : `${first[0]}: ${first[1]}`),
    };
  }
  if (left.refusal !== null && !run.leavesRefused) {
    const reason = `the target does not take ${left.refused} of them, such as ${left.refusal}`;
    throw new GitError("invalid", { what: "objects of Git LFS", reason });
  }
  return left;
}

/** Checks that pointer files from pushes to an older release are known, which a job finds.
 * @throws GitError "unavailable" when the job has not finished */
function checkNoted({ lfs, jobs }: Tables, among: NumberSet): void {
  if (among.size === 0 || among.first > lfs.unread()) return;
  jobs.add("collect", "", Date.now());
  throw new GitError("unavailable", {
    what: "list of pointer files",
    reason: "older commits are being looked through",
  });
}

async function sendBatch(run: LfsRun, stored: readonly StoredLfsObject[]): Promise<ReadonlyMap<string, string>> {
  const progress = { title: "", done: 0, total: stored.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) };
  run.show(progress);
  let objects = 0;
  try {
    return await sendLfs(run.server, stored, run.chunks, ({ sizeBytes }) => {
      objects += 1;
      progress.done += sizeBytes;
      run.tables();
    });
  } finally {
    if (objects > 0) run.noteSent(objects, progress.done);
  }
}
