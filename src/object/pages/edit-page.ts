import { RefRules } from "../../base/access/ref-rules.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { toHex } from "../../base/format/oid.ts";
import { isFileMode, isTreeMode, typeOfMode } from "../../base/format/tree.ts";
import { branchRev, HEADS } from "../../base/format/ref-name.ts";
import { refsNamed } from "../objects/named-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, resolveCommit } from "../objects/revision.ts";
import { entryAt } from "../objects/tree-path.ts";
import { openTarget } from "./page-revision.ts";
import { type EditRequest, type EditPage, MAX_EDITED_BYTES, faultOf, type EditedEntry } from "../../contract/pages.ts";

/** Reads what a form is to change.
 * @throws GitError "not-found" when the parts name no branch, and as `resolveCommit` */
export async function editPage(repository: OpenRepository, { parts, at }: EditRequest): Promise<EditPage> {
  const { branch, path, commit } = await openBranch(repository, parts);
  const wanted = at === null ? commit : (await resolveCommit(repository, at)).oid;
  return {
    branch,
    rev: branchRev(branch),
    commit: wanted && toHex(wanted),
    path,
    found: wanted === null ? { kind: "nothing" } : await findEntry(repository, toHex(wanted), path),
    refusal: refusalFor(repository, branch),
  };
}

async function openBranch(repository: OpenRepository, parts: readonly string[]) {
  const { all, head } = repository.advertised;
  const first = head?.target ?? "";
  if (!all.names.some((name) => name.startsWith(HEADS)) && first.startsWith(HEADS)) {
    // The first commit makes the branch that HEAD names.
    const branch = first.slice(HEADS.length);
    const named = parts.join("/");
    const rev = branchRev(branch);
    if (named === rev || named.startsWith(`${rev}/`))
      return { branch, path: named.slice(rev.length + 1), commit: null };
  }
  const { revision, commit, path } = await openTarget(repository, parts);
  const name = refsNamed(repository.advertised, revision.name)[0]?.name ?? "";
  if (!name.startsWith(HEADS)) throw new GitError("not-found", { what: "branch" });
  return { branch: name.slice(HEADS.length), path, commit: commit.oid };
}

async function findEntry(repository: OpenRepository, commit: string, path: string): Promise<EditedEntry> {
  if (path === "") return { kind: "directory" };
  const root = peel(repository, await resolveCommit(repository, commit), "tree");
  const entry = await entryAt(repository, root.number, path);
  if (entry === null) return { kind: "nothing" };
  if (isTreeMode(entry.mode)) return { kind: "directory" };
  if (!isFileMode(entry.mode)) return { kind: typeOfMode(entry.mode) === "commit" ? "submodule" : "link" };
  if ((repository.find(entry.oid)?.size ?? 0) > MAX_EDITED_BYTES)
    return { kind: "file", text: null, fault: "too large" };
  const { bytes } = await repository.reader.read(entry.number);
  const fault = faultOf(bytes);
  return { kind: "file", text: fault === null ? bytes : null, fault };
}

function refusalFor({ tables, requester }: OpenRepository, branch: string): string | null {
  const change = { name: HEADS + branch, kind: "move", isForward: () => true } as const;
  const refusal = new RefRules(tables.refRules.all(), requester).refuse(change);
  return refusal && decodeText(refusal);
}
