import { RefRules } from "../../base/access/ref-rules.ts";
import { decodeText, encodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import type { OpenRepository } from "../objects/open-repository.ts";

/** Refuses callers who could not move the ref that a request is for, whatever they would push.
 * @param ref full name, text; null: the request names none
 * @throws GitError "forbidden" */
export function checkLfsRef({ tables, requester }: OpenRepository, ref: string | null): void {
  const rules = new RefRules(tables.refRules.all(), requester);
  if (ref === null || rules.isEmpty) return;
  const name = encodeText(ref);
  const kind = tables.refs.get(name) === null ? "creation" : "move";
  const reason = rules.refuse({ name, kind, isForward: null });
  if (reason !== null) throw new GitError("forbidden", { what: `a change of ${ref}`, reason: decodeText(reason) });
}
