import { encodeHeaders, type Header, HeaderReader } from "./header.ts";
import { encodeIdent, type Ident } from "./ident.ts";
import { type Oid, toHex } from "./oid.ts";

/** A parsed commit. */
export interface Commit {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly author: Ident;
  readonly committer: Ident;
  /** The headers after the committer, in order: `encoding`, `gpgsig`, `mergetag` and any other. */
  readonly extraHeaders: readonly Header[];
  /** Bytes in UTF-8, or in the encoding that the header `encoding` names. */
  readonly message: Uint8Array;
}

/** Parses a commit's content. Accepts everything that passes git's fsck.
 * @throws GitError "corrupt-object" if tree, author or committer are missing or unreadable */
export function parseCommit(content: Uint8Array): Commit {
  const headers = new HeaderReader("commit", content);
  const tree = headers.toOid(headers.demand("tree"));
  const parents: Oid[] = [];
  for (let parent = headers.take("parent"); parent !== null; parent = headers.take("parent")) {
    parents.push(headers.toOid(parent));
  }
  return {
    tree,
    parents,
    author: headers.toIdent(headers.demand("author")),
    committer: headers.toIdent(headers.demand("committer")),
    extraHeaders: headers.rest(),
    message: headers.body,
  };
}

/** Encodes a commit's content.
 * @throws GitError "bad-request" if an identity cannot be written */
export function encodeCommit(commit: Commit): Uint8Array {
  return encodeHeaders(
    [
      { name: "tree", value: toHex(commit.tree) },
      ...commit.parents.map((parent) => ({ name: "parent", value: toHex(parent) })),
      { name: "author", value: encodeIdent(commit.author) },
      { name: "committer", value: encodeIdent(commit.committer) },
      ...commit.extraHeaders,
    ],
    commit.message,
  );
}
