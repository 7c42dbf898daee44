import type { z } from "@hono/zod-openapi";
import { GitError } from "../../../base/format/errors.ts";

type Issue = z.core.$ZodIssue;

/** The error for what a schema refuses: it names the first invalid field. */
export function toRefusal({ issues }: { readonly issues: readonly Issue[] }): GitError {
  const { field, reason } = describe(issues[0]!);
  return new GitError("invalid", { what: field === "" ? "request" : field, field, reason });
}

function describe(issue: Issue, above: readonly PropertyKey[] = []): { field: string; reason: string } {
  const path = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys")
    return { field: [...path, issue.keys[0]].join("."), reason: "there is no such field" };
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    // The alternative that fits best is the one that is meant.
    const [closest] = issue.errors.toSorted((a, b) => countFaults(a) - countFaults(b));
    if (closest!.length > 0) return describe(closest![0]!, path);
  }
  return { field: path.join("."), reason: issue.message };
}

function countFaults(issues: readonly Issue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1), 0);
}
