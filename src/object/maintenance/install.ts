import { BLOB_MAX_BYTES } from "../store/sql/sql.ts";
import { scheduleSeal, type JobRun } from "./maintenance-jobs.ts";
import type { Rewritten } from "./rewrite.ts";
import { retireObjects, storeObjects } from "./sweep.ts";

/** Replaces chunks by their rewritten form, in one transaction. A chunk that holds other objects
 * too stays for them.
 * @param changeAlso further changes, made first in the same transaction; if it throws, everything
 * is rolled back */
export async function installChunks(
  run: JobRun,
  { chunks, objects, sources }: Rewritten,
  changeAlso: () => void = () => undefined,
): Promise<void> {
  const tables = run.repository.tables!;
  const isLarge = ({ size }: { size: number }): boolean => size > BLOB_MAX_BYTES;
  await storeObjects(
    run,
    chunks.filter(isLarge).map(({ bytes }) => bytes),
    (keys) => {
      changeAlso();
      const firstId = tables.chunks.nextId();
      const keysLeft = keys.values();
      tables.chunks.insert(
        chunks.map((chunk) =>
          isLarge(chunk) ? { ...chunk, key: keysLeft.next().value!, bytes: null } : { ...chunk, key: null },
        ),
        firstId,
      );
      tables.objects.move({ ...objects, chunk: objects.chunk.map((index) => firstId + index) });
      tables.chunks.release(sources.map(({ id }) => id));
      retireObjects(
        run.repository,
        tables,
        sources.map(({ key }) => key),
        run.nowMs,
      );
      scheduleSeal(tables, run.nowMs);
    },
  );
}
