import { GitError } from "./errors.ts";

/** What was exceeded, where that decides what the client can do next. Of one pack (`pack`): its
 * history can come in parts. Of one object (`object`) or of what is stored (`quota`): no smaller
 * push helps. It is `limitKind` in the data of "too-large". */
export const LIMIT_KINDS = ["pack", "object", "quota"] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** The failure of a pack that is too large as a whole. */
export function packTooLarge(what: string, limit: number, actual: number): GitError {
  const limitKind: LimitKind = "pack";
  const reason = "push the history in parts: git push <remote> <older commit>:refs/heads/<branch> first";
  return new GitError("too-large", { what, limit, actual, limitKind, reason });
}

/** The failure of an object that is too large by itself. */
export function objectTooLarge(what: string, limit: number, actual: number, reason: string): GitError {
  const limitKind: LimitKind = "object";
  return new GitError("too-large", { what, limit, actual, limitKind, reason });
}
