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
  /** Message in UTF-8, or in the encoding that the header `encoding` names. */
  readonly message: Uint8Array;
}

/** A commit that was read, possibly with limits. */
export interface ParsedCommit extends Commit {
  /** Number of parents; `parents` has the first of them. */
  readonly parentCount: number;
  /** Whether there are more headers than `extraHeaders` has. */
  readonly hasMoreHeaders: boolean;
}

/** The fields that a commit's first bytes contain. */
export interface CommitHead extends Pick<ParsedCommit, "tree" | "parents" | "parentCount" | "extraHeaders"> {
  /** Null: the author is not within these bytes. */
  readonly author: Ident | null;
  readonly committer: Ident | null;
  /** The message as far as it is within these bytes; null: it begins behind them. */
  readonly message: Uint8Array | null;
}

/** Parses a commit's content. Accepts everything that passes git's fsck.
 * @param parents limit of the parents that are read
 * @throws GitError "corrupt-object" if tree, author or committer are missing or unreadable */
export function parseCommit(content: Uint8Array, parents = Infinity): ParsedCommit {
  const headers = new HeaderReader("commit", content);
  const start = readStart(headers, parents);
  return {
    ...start,
    author: headers.toIdent(headers.demand("author")),
    committer: headers.toIdent(headers.demand("committer")),
    extraHeaders: headers.rest(),
    hasMoreHeaders: headers.hasMore,
    message: headers.body,
  };
}

/** Parses the first bytes of a commit.
 * @param content at least the commit's tree
 * @param isWhole whether `content` is the whole commit
 * @param parents limit of the parents that are read
 * @throws GitError as `parseCommit` */
export function parseCommitHead(content: Uint8Array, isWhole: boolean, parents: number): CommitHead {
  const headers = new HeaderReader("commit", content, isWhole);
  const start = readStart(headers, parents);
  const read = (name: string): Ident | null => {
    const line = headers.isOpen ? headers.take(name) : headers.demand(name);
    return line === null ? null : headers.toIdent(line);
  };
  const author = read("author");
  const committer = author === null ? null : read("committer");
  const extraHeaders = committer === null ? [] : headers.rest();
  return { ...start, author, committer, extraHeaders, message: headers.isOpen ? null : headers.body };
}

function readStart(headers: HeaderReader, most: number): Pick<ParsedCommit, "tree" | "parents" | "parentCount"> {
  const tree = headers.toOid(headers.demand("tree"));
  const { values, count } = headers.takeEach("parent", most);
  return { tree, parents: values.map((parent) => headers.toOid(parent)), parentCount: count };
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
