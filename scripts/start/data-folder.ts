import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { UsageError } from "../command-line.ts";

/** Its first line names the process that uses the folder. It is only for people, and may be
 * outdated. */
const OWNER_FILE = "holdfast.pid";

/** A database without a table. The server that holds a transaction on it owns the folder. The
 * operating system ends the transaction with the process, however that ends. So no lock is left
 * behind, and a reused process id does no harm. */
const LOCK_FILE = "holdfast.lock";

/** The locks of this process: an unreferenced database would be closed. */
const held: DatabaseSync[] = [];

/** Makes the folder for the data if it is missing, and locks it for the life of this process.
 * @throws UsageError if another server has locked it, or if it cannot be written */
export function takeDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UsageError(`--persist-to ${folder}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
  const owner = join(folder, OWNER_FILE);
  const lock = new DatabaseSync(join(folder, LOCK_FILE), { timeout: 0 });
  try {
    // Nothing is ever written, so that a server starts on a full disk, too.
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new UsageError(
      `--persist-to ${folder}: ${readOwner(owner)} uses this folder already; only one server at a time may`,
    );
  }
  noteOwner(owner);
  held.push(lock);
}

/** @see https://www.sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

function noteOwner(file: string): void {
  try {
    writeFileSync(file, `${process.pid}\n`);
  } catch {
    // The lock works without this file, for example on a full disk.
  }
}

function readOwner(file: string): string {
  try {
    return `process ${/^\d+/.exec(readFileSync(file, "utf8"))![0]}`;
  } catch {
    return "another process";
  }
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === "EEXIST" || error.code === "ENOTDIR") return "it is a file, or lies in one; a folder is needed";
  if (error.code === "EACCES" || error.code === "EROFS" || error.code === "EPERM") {
    const user = process.getuid?.();
    return `it cannot be written${user === undefined ? "" : ` by user ${user}`} (${error.code})`;
  }
  return error.message;
}
