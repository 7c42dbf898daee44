import { closeSync, openSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";

/** Takes a lock: a file with the process's id, which the caller removes at the end.
 * @returns false when a living process has the lock */
export function lock(path: string): boolean {
  for (let tries = 0; tries < 2; tries++) {
    try {
      const file = openSync(path, "wx");
      writeFileSync(file, String(process.pid));
      closeSync(file);
      return true;
    } catch {
      if (isAlive(Number(readFileSync(path, "utf8")))) return false;
      unlinkSync(path);
    }
  }
  return false;
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
