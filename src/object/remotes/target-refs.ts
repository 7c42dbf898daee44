import { GitError } from "../../base/format/errors.ts";
import { checkLimit, MAX_HAVES, MAX_REFS_PER_PUSH } from "../../base/format/limits.ts";
import { isPushableRefName } from "../../base/format/ref-name.ts";
import type { GitServer } from "./git-server.ts";
import { readFirstLine, readV0 } from "./ref-lines.ts";

/** Refs and capabilities of a target. */
export interface TargetRefs {
  readonly capabilities: ReadonlySet<string>;
  /** Ids in hex by full name, byte strings; only the mirrored refs. */
  readonly refs: Map<string, string>;
  /** Ids in hex, of any ref, that the target has with everything that they reach; not all if there
   * are very many. */
  readonly haves: Set<string>;
}

/** Reads the refs of a target.
 * @param prefixes of the mirrored refs
 * @throws GitError "unsupported", "unavailable", "too-large", and as `GitServer` */
export async function listTargetRefs(target: GitServer, prefixes: readonly string[]): Promise<TargetRefs> {
  const answer = await target.discover(false);
  const refs = new Map<string, string>();
  const haves = new Set<string>();
  try {
    const capabilities = await readV0(answer, await readFirstLine(answer), (oid, name) => {
      if (haves.size < MAX_HAVES) haves.add(oid);
      // Names that no push can change are ignored, such as `.have`, which lists shared objects.
      if (!prefixes.some((prefix) => name.startsWith(prefix)) || !isPushableRefName(name, true)) return;
      refs.set(name, oid);
      checkLimit("the number of the target's refs", MAX_REFS_PER_PUSH, refs.size, "choose some by `refs`");
    });
    if (!capabilities.has("report-status"))
      throw new GitError("unsupported", { what: "a target that does not report what became of a push" });
    return { capabilities, refs, haves };
  } finally {
    await answer.cancel();
  }
}
