import { RefRules } from "../../access/ref-rules.ts";
import { decodeText } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";
import { toHex } from "../../format/oid.ts";
import { isFileMode, isTreeMode, typeOfMode } from "../../format/tree.ts";
import { branchRev, refsNamed } from "../objects/named-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, resolveCommit } from "../objects/revision.ts";
import { entryAt } from "../objects/tree-path.ts";
import { BRANCHES } from "../refs/move-ref.ts";
import { openTarget } from "./page-revision.ts";

/** Bytes of a text that can be edited in a form. */
export const MAX_EDITED_BYTES = 1024 * 1024;

/** A request for what is to be changed. */
export interface EditRequest {
  /** Of the URL: a branch and a path. Byte strings. */
  readonly parts: readonly string[];
  /** The commit whose files are wanted, an id in hex; null: the branch's tip. */
  readonly at: string | null;
}

/** What a form that changes files shows. */
export interface EditPage {
  /** Without `refs/heads/`, byte string. */
  readonly branch: string;
  /** As URLs name it, byte string. */
  readonly rev: string;
  /** Id in hex of the commit that was read; null: the repository has none yet. */
  readonly commit: string | null;
  /** Byte string, "" for the root. */
  readonly path: string;
  readonly found: EditedEntry;
  /** Why the visitor may not move the branch; null: nothing forbids it. */
  readonly refusal: string | null;
}

/** What is at a path. */
export type EditedEntry =
  | { readonly kind: "nothing" | "directory" | "submodule" | "link" }
  /** A file. Its text is not given if it is `binary`, has more than `MAX_EDITED_BYTES`, or is no
   * UTF-8. */
  | { readonly kind: "file"; readonly text: Uint8Array | null; readonly fault: TextFault | null };

/** Why a file cannot be edited as text. */
export type TextFault = "too large" | "binary" | "no UTF-8";

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
  if (!all.names.some((name) => name.startsWith(BRANCHES)) && first.startsWith(BRANCHES)) {
    // The first commit makes the branch that HEAD names.
    const branch = first.slice(BRANCHES.length);
    const named = parts.join("/");
    const rev = branchRev(branch);
    if (named === rev || named.startsWith(`${rev}/`))
      return { branch, path: named.slice(rev.length + 1), commit: null };
  }
  const { revision, commit, path } = await openTarget(repository, parts);
  const name = refsNamed(repository.advertised, revision.name)[0]?.name ?? "";
  if (!name.startsWith(BRANCHES)) throw new GitError("not-found", { what: "branch" });
  return { branch: name.slice(BRANCHES.length), path, commit: commit.oid };
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

/** Why bytes cannot be edited as text; null: they can. */
export function faultOf(bytes: Uint8Array): TextFault | null {
  if (bytes.length > MAX_EDITED_BYTES) return "too large";
  // No form can hold a NUL.
  if (bytes.includes(0)) return "binary";
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return null;
  } catch {
    return "no UTF-8";
  }
}

function refusalFor({ tables, requester }: OpenRepository, branch: string): string | null {
  const change = { name: BRANCHES + branch, kind: "move", isForward: () => true } as const;
  const refusal = new RefRules(tables.refRules.all(), requester).refuse(change);
  return refusal && decodeText(refusal);
}
