import { isGitError } from "../../base/format/errors.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { Tables } from "../store/tables.ts";

/** Messages of SQLite when a database is damaged, as opposed to busy, full or closed. */
const DAMAGED_DATABASE = /SQLITE_(CORRUPT|NOTADB)|malformed|not a database|no such (table|column)/;

/** Why something cannot be read, if what is stored is damaged.
 * @param tables the current tables
 * @throws any error that is not damage, such as a failure of the store: a check that could not be
 * made must not count as a failed one */
export async function damageOf(error: unknown, store: ChunkStore, tables: () => Tables): Promise<string> {
  if (!isGitError(error)) {
    if (isOfDamagedRow(error)) return error.message;
    throw error;
  }
  switch (error.code) {
    case "corrupt-pack":
    case "corrupt-delta":
    case "corrupt-object":
    case "missing-object":
    case "wrong-type":
    case "too-large":
    case "damaged-data":
      return error.message;
    case "storage-failed": {
      const { damage, reason, key } = error.data;
      if (damage === true) return String(reason);
      // Tables have names, R2 objects have keys with slashes.
      if (typeof key !== "string" || !key.includes("/")) return error.message;
      const loss = await findLostObject(store, key, tables());
      if (loss !== null) return loss;
      throw error;
    }
    default:
      throw error;
  }
}

/** Whether an error is what code meets in a row that is not as it was written: JSON that does not
 * parse, numbers out of range, values that are missing. */
function isOfDamagedRow(error: unknown): error is Error {
  if (error instanceof RangeError || error instanceof SyntaxError || error instanceof TypeError) return true;
  return error instanceof Error && DAMAGED_DATABASE.test(error.message);
}

/** What is wrong with an R2 object that could not be read; null: it is there, and the store
 * failed. */
async function findLostObject(store: ChunkStore, key: string, tables: Tables): Promise<string | null> {
  const stat = await store.stat(key);
  if (stat === null) return `the R2 object ${key} is missing`;
  const end = tables.chunks
    .allInOrder()
    .reduce((most, chunk) => (chunk.key === key ? Math.max(most, chunk.start + chunk.size) : most), 0);
  if (stat.sizeBytes >= end) return null;
  return `the R2 object ${key} has ${stat.sizeBytes} bytes, but its chunks end at ${end}`;
}
