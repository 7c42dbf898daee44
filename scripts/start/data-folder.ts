import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { UsageError } from "../command-line.ts";

/** Says in its first line which process has the folder; only for people, as it may be older than what it says. */
const OWNER_FILE = "holdfast.pid";

/** A database without a table: whoever has a transaction open on it has the folder. The operating system ends that with the process,
 * however the process ends, so no lock is ever left behind, and none is mistaken for another's when a process id is used again. */
const LOCK_FILE = "holdfast.lock";

/** What this process has: a database that nobody refers to would be closed. */
const held: DatabaseSync[] = [];

/** Makes the folder for the data if it is not there, and takes it for this process, for as long as it runs.
 * @throws UsageError if another server has it, or if nobody could write there */
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
    // Nothing is ever written, so that a full disk is no reason not to start.
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new UsageError(`--persist-to ${folder}: ${readOwner(owner)} serves it already; one server at a time may`);
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
    // The lock holds without it, on a full disk too.
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
