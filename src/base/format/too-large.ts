import { GitError, type LimitKind } from "./errors.ts";

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
