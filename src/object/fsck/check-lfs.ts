import { hashStored } from "../../base/chunks/stored-hash.ts";
import type { StoredLfsObject } from "../../contract/lfs.ts";
import type { FsckRun, FsckStage } from "./fsck-run.ts";

/** Rows read at a time. */
const PAGE_ROWS = 100;

/** Checks that the R2 objects of LFS objects exist, and that their bytes have the size and the hash
 * of their row, by id. A large one is hashed as a whole, whatever time that takes. */
export const checkLfs: FsckStage = async (run, after) => {
  let last = after;
  for (;;) {
    const page = run.tables.lfs.page(last, PAGE_ROWS);
    if (page.length === 0) return null;
    for (const object of page) {
      const detail = await findFault(run, object);
      // It may have been removed meanwhile.
      if (detail !== null && run.tables.lfs.find(object.oid)?.key === object.key)
        run.report({ kind: "lfs-object", key: object.key, detail });
      last = object.oid;
      if (run.isSpent) return last;
    }
  }
};

/** What is wrong with an object; null: nothing. */
async function findFault(run: FsckRun, { key, oid, sizeBytes }: StoredLfsObject): Promise<string | null> {
  run.checked.files += 1;
  const stat = await run.store.stat(key);
  if (stat === null) return "its R2 object is missing";
  if (stat.sizeBytes !== sizeBytes) return `its R2 object has ${stat.sizeBytes} bytes instead of ${sizeBytes}`;
  const actual = await hashStored(run.store, key, sizeBytes, async (bytes) => {
    run.checked.bytes += bytes;
    await run.step(bytes);
  });
  return actual === oid ? null : `its bytes have the SHA-256 ${actual}`;
}
