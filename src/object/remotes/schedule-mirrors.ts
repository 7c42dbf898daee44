import type { Tables } from "../store/tables.ts";
import type { RefCommand } from "../../contract/push.ts";

/** Adds the jobs of the mirrors that moved refs concern. Must run in the push's transaction.
 * Without a mirror it writes nothing.
 * @param moved the commands that moved their refs */
export function scheduleMirrors({ mirrors, jobs }: Tables, moved: readonly RefCommand[], nowMs: number): void {
  for (const { id, prefixes, dueMs } of mirrors.all()) {
    const isMirrored = ({ name }: RefCommand): boolean => prefixes.some((prefix) => name.startsWith(prefix));
    if (moved.some(isMirrored)) jobs.add("mirror", id, Math.max(nowMs, dueMs));
  }
}
