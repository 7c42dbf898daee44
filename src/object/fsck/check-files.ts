import { decodeText } from "../../base/format/byte-string.ts";
import { concatOids, toHex } from "../../base/format/oid.ts";
import type { Worktree, WorktreeFile } from "../store/jobs/worktree-table.ts";
import { worktreeFileKey } from "../worktree/file-key.ts";
import { mistrustFile } from "../worktree/materialized-file.ts";
import type { FsckRun, FsckStage } from "./fsck-run.ts";

/** R2 objects checked at a time: the platform allows a request six connections that wait for an
 * answer. */
const IN_FLIGHT = 6;

/** Rows read at a time. */
const PAGE_ROWS = 120;

/** Bytes that are hashed in the time of a question to the bucket. */
const BYTES_PER_STAT = 64 * 1024;

/** Checks that the bundle's R2 object exists and has the right size. With `repair`, a new bundle is
 * built otherwise. */
export const checkBundle: FsckStage = async (run) => {
  const bundle = run.tables.bundles.current();
  if (bundle === null) return null;
  const detail = await findFault(run, bundle.key, bundle.sizeBytes);
  if (detail === null) return null;
  run.report({ kind: "bundle", key: bundle.key, detail });
  repair(run, () => {
    const { bundles, jobs } = run.tables;
    if (bundles.current()?.key !== bundle.key) return;
    bundles.replace(null);
    jobs.add("bundle", "", Date.now());
  });
  return null;
};

/** Checks that the R2 objects of stored responses exist and have the right size, by key. With
 * `repair`, the faulty ones are dropped. */
export const checkResponses: FsckStage = async (run, after) => {
  let last = after;
  for (;;) {
    const page = run.audit.responses(last, IN_FLIGHT);
    if (page.length === 0) return null;
    await Promise.all(
      page.map(async ({ objectKey, sizeBytes }) => {
        const detail = await findFault(run, objectKey, sizeBytes);
        if (detail === null) return;
        run.report({ kind: "response", key: objectKey, detail });
        repair(run, () => run.tables.responses.remove(objectKey));
      }),
    );
    last = page.at(-1)!.key;
    if (run.isSpent) return last;
  }
};

/** Checks that the R2 objects of parts of upload sessions exist and have the right size, by session
 * and part. */
export const checkParts: FsckStage = async (run, after) => {
  let last = after;
  for (;;) {
    const page = run.audit.uploadParts(last, PAGE_ROWS);
    if (page.length === 0) return null;
    await inFlight(page, async ({ key, sizeBytes }) => {
      const detail = await findFault(run, key, sizeBytes);
      // Its step may have been stored meanwhile.
      if (detail !== null && run.tables.uploads.hasKey(key)) run.report({ kind: "upload-part", key, detail });
    });
    last = page.at(-1)!.place;
    if (run.isSpent) return last;
  }
};

/** Checks the files of worktrees, by branch and path: that their R2 objects exist, with the size
 * and version that were written and the size of the blob. With `repair`, faulty files are written
 * again. */
export const checkWorktrees: FsckStage = async (run, after) => {
  const at = after.indexOf(" ");
  let [branch, last] = [after.slice(0, Math.max(at, 0)), after.slice(at + 1)];
  for (const worktree of run.tables.worktrees.all()) {
    if (worktree.branch < branch) continue;
    if (worktree.branch > branch) [branch, last] = [worktree.branch, ""];
    for (;;) {
      const from = last;
      const readFiles = (): readonly WorktreeFile[] => run.tables.worktrees.files(worktree.id, "", from, PAGE_ROWS);
      const page = await run.attempt(`files of branch ${decodeText(branch)}`, readFiles, []);
      if (page.length === 0) break;
      await checkFiles(run, worktree, page);
      last = page.at(-1)!.path;
      // The separator is safe: a branch's name has no space.
      if (run.isSpent) return `${branch} ${last}`;
    }
  }
  return null;
};

async function checkFiles(run: FsckRun, worktree: Worktree, files: readonly WorktreeFile[]): Promise<void> {
  const { objects } = run.tables;
  const blobs = await run.attempt(
    "blobs of files",
    () => objects.lookupMany(concatOids(files.map(({ oid }) => oid))),
    null,
  );
  await inFlight(files, async (file, i) => {
    // The job `materialize` has yet to write it.
    if (file.etag === null) return;
    const key = worktreeFileKey(run.repository.state.key, worktree.branch, file.path);
    const isBlob = blobs === null || (blobs.type[i] === 3 && blobs.size[i] === file.sizeBytes);
    const detail = isBlob
      ? await findFault(run, key, file.sizeBytes, file.etag)
      : `its row does not match blob ${toHex(file.oid)}`;
    if (detail === null || run.tables.worktrees.file(worktree.id, file.path)?.etag !== file.etag) return;
    run.report({ kind: "worktree-file", key, ref: `refs/heads/${worktree.branch}`, oid: toHex(file.oid), detail });
    if (isBlob && blobs !== null) repair(run, () => mistrustFile(run.repository, worktree, file));
  });
}

/** Runs `f` for each, some at a time. */
async function inFlight<T>(all: readonly T[], f: (one: T, i: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += IN_FLIGHT) {
    await Promise.all(all.slice(from, from + IN_FLIGHT).map((one, i) => f(one, from + i)));
  }
}

/** What is wrong with an R2 object, null: nothing.
 * @param etag the version it must be; without it any */
async function findFault(run: FsckRun, key: string, sizeBytes: number, etag?: string): Promise<string | null> {
  run.checked.files += 1;
  await run.step(BYTES_PER_STAT);
  const stat = await run.store.stat(key);
  if (stat === null) return "its R2 object is missing";
  if (stat.sizeBytes !== sizeBytes) return `its R2 object has ${stat.sizeBytes} bytes instead of ${sizeBytes}`;
  return etag === undefined || stat.etag === etag ? null : "its R2 object is another version";
}

function repair(run: FsckRun, mend: () => void): void {
  if (!run.repair) return;
  const { state } = run.repository;
  state.platform.transactor.transactionSync(mend);
  state.scheduleJobs();
  run.checked.repaired += 1;
}
