import { readFileSync } from "node:fs";

const POLL_MS = 250;

/** Calls `ended` when npm ends, if it started this process: itself, or by a shell. Any other parent
 * may end without this process. */
export function onNpmEnd(ended: () => void): void {
  if (process.env["npm_lifecycle_event"] !== "start") return;
  const started = readParents();
  if (started === null) return;
  const timer = setInterval(() => {
    if (readParents()?.join() === started.join()) return;
    clearInterval(timer);
    ended();
  }, POLL_MS);
}

/** The ids of the processes up to npm: npm, or a shell of it and npm; null: npm is none of them.
 * Where the system has no `/proc`, the parent is taken for npm's. */
function readParents(): number[] | null {
  const parent = process.ppid;
  try {
    if (isNpm(parent)) return [parent];
    const next = parentOf(parent);
    return isNpm(next) ? [parent, next] : null;
  } catch {
    return process.platform === "linux" ? null : [parent];
  }
}

/** Whether a process is npm, by its title or the script that it runs.
 * @throws Error if there is no such process */
function isNpm(pid: number): boolean {
  return /^(?:npm[ \0]|[^\0]*\0[^\0]*\/npm(?:-cli\.js)?\0)/.test(readFileSync(`/proc/${pid}/cmdline`, "latin1"));
}

/** @throws Error if there is no such process */
function parentOf(pid: number): number {
  // The state and the parent's id follow the name, which may contain spaces.
  const [, parent] = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
  return Number(parent);
}
