// Commits as the API shows them: text where objects have bytes. Lists truncate long values, and
// mark them as truncated.
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { fromByteString } from "../../base/format/byte-string.ts";
import { type CommitHead, parseCommitHead } from "../../base/format/commit.ts";
import type { Header } from "../../base/format/header.ts";
import { type Ident, toIsoDate } from "../../base/format/ident.ts";
import { MAX_HEAD_BYTES } from "../../base/format/shown-limits.ts";
import { OID_BYTES, toHex } from "../../base/format/oid.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import { ListBudget, type RecordBounds } from "./list-budget.ts";
import type { OpenRepository } from "./open-repository.ts";
import { revisionOf } from "./revision.ts";
import type { CommitRecord, IdentRecord } from "../../contract/commits.ts";

/** The first bytes of a commit. */
interface ReadHead {
  readonly number: ObjectNumber;
  /** Hex. */
  readonly oid: string;
  readonly head: CommitHead;
  /** Whether the bytes are the whole commit. */
  readonly isWhole: boolean;
  /** The commit's time (seconds since 1970). */
  readonly timeSeconds: number;
}

const UTF_8 = new TextDecoder();

/** Bounds that truncate nothing. */
export const UNBOUNDED: RecordBounds = { messageBytes: Infinity, nameBytes: Infinity, parents: Infinity };

/** Parses a commit's content, and shows all of it.
 * @param oid in hex
 * @throws GitError as `parseCommit` */
export function toCommitRecord(oid: string, content: Uint8Array): CommitRecord {
  const head = parseCommitHead(content, true, Infinity);
  return describeHead({ oid, head, isWhole: true, timeSeconds: 0 }, UNBOUNDED);
}

/** Shows as much of a commit as the bounds allow. */
export function describeHead(
  { oid, head, isWhole, timeSeconds }: Omit<ReadHead, "number">,
  bounds: RecordBounds,
): CommitRecord {
  const encoding = encodingOf(head.extraHeaders);
  const message = cutText(head.message ?? NOTHING, bounds.messageBytes, encoding);
  const parents = head.parents.slice(0, bounds.parents).map((parent) => toHex(parent));
  return {
    oid,
    tree: toHex(head.tree),
    parents,
    author: toIdentRecord(head.author, { encoding, timeSeconds, nameBytes: bounds.nameBytes }),
    committer: toIdentRecord(head.committer, { encoding, timeSeconds, nameBytes: bounds.nameBytes }),
    message: message.text,
    ...(parents.length < head.parentCount && { parentsTruncated: true }),
    ...((message.isCut || !isWhole) && { messageTruncated: true }),
  };
}

/** Reads commits in the order of their numbers, truncated as in lists.
 * @param numbers object numbers of commits, in any order
 * @param budget budget of the list that they belong to
 * @throws GitError "storage-failed" when one cannot be read */
export async function* readCommits(
  repository: OpenRepository,
  numbers: readonly ObjectNumber[],
  budget = new ListBudget(),
): AsyncGenerator<[number: ObjectNumber, commit: CommitRecord], void, void> {
  for await (const read of readHeads(repository, numbers, budget)) {
    const commit = describeHead(read, budget.bounds);
    budget.noteText(sizeOf(commit));
    yield [read.number, commit];
  }
}

/** Reads the first bytes of commits in the order of their numbers.
 * @param numbers object numbers of commits, in any order
 * @throws GitError "storage-failed" when one cannot be read */
export async function* readHeads(
  repository: OpenRepository,
  numbers: readonly ObjectNumber[],
  budget = new ListBudget(),
): AsyncGenerator<ReadHead, void, void> {
  const { reader, tables } = repository;
  const sorted = NumberSet.fromUnsorted(numbers);
  const { oid, size } = tables.objects.locate(sorted);
  const { parents } = budget.bounds;
  const slice = new TimeSlice();
  let at = 0;
  for await (const [number, bytes] of reader.readHeads(sorted, size, MAX_HEAD_BYTES, (cost) => budget.takeRead(cost))) {
    const sizeBytes = size[at]!;
    const timeSeconds = tables.graph.time(tables.graph.position(number));
    const start = { number, oid: toHex(oid, OID_BYTES * at++), timeSeconds };
    const isAll = bytes?.length === sizeBytes;
    const head = bytes === null ? headOf(repository, number, parents) : parseCommitHead(bytes, isAll, parents);
    // Reads the whole commit: its message or an identity is behind very long headers.
    if (bytes !== null && head.message === null && budget.takeRead(sizeBytes)) {
      const content = (await reader.read(number)).bytes;
      yield { ...start, head: parseCommitHead(content, true, parents), isWhole: true };
    } else yield { ...start, head, isWhole: isAll };
    if (sizeBytes > MAX_HEAD_BYTES) await slice.pause();
  }
}

/** Makes a head from the graph's data about a commit. */
function headOf(repository: OpenRepository, number: ObjectNumber, most: number): CommitHead {
  const { graph } = repository.tables;
  const position = graph.position(number);
  const parents = graph.parents(position);
  const oidOf = (one: ObjectNumber): Uint8Array => revisionOf(repository, one).oid;
  return {
    tree: oidOf(graph.tree(position)),
    parents: Array.from(parents.subarray(0, most), (parent) => oidOf(graph.number(parent))),
    parentCount: parents.length,
    author: null,
    committer: null,
    extraHeaders: [],
    message: null,
  };
}

/** Counts the characters of a shown commit. */
export function sizeOf({ message, parents, author, committer }: CommitRecord): number {
  const people = [author, committer].reduce((sum, { name, email }) => sum + name.length + email.length, 0);
  return message.length + people + 2 * OID_BYTES * parents.length;
}

/** Options for showing an identity. */
interface IdentWay {
  /** Encoding named by the commit's header. */
  readonly encoding?: string | undefined;
  readonly nameBytes: number;
  /** Time to show if the identity was not read (seconds since 1970). */
  readonly timeSeconds: number;
}

/** Converts an identity.
 * @param ident null: it was not read */
export function toIdentRecord(ident: Ident | null, { encoding, nameBytes, timeSeconds }: IdentWay): IdentRecord {
  if (ident === null) return { name: "", email: "", date: toIsoDate(timeSeconds, "+0000"), truncated: true };
  const [name, email] = [ident.name, ident.email].map((text) =>
    cutText(fromByteString(text.slice(0, nameBytes + 1)), nameBytes, encoding),
  ) as [CutText, CutText];
  const date = toIsoDate(ident.timeSeconds, ident.zone);
  return { name: name.text, email: email.text, date, ...((name.isCut || email.isCut) && { truncated: true }) };
}

const NOTHING = new Uint8Array(0);

interface CutText {
  readonly text: string;
  readonly isCut: boolean;
}

/** Decodes text, and truncates it between two characters.
 * @param encoding from a commit's header; an unknown one is read as UTF-8 */
export function cutText(bytes: Uint8Array, mostBytes: number, encoding?: string): CutText {
  if (bytes.length <= mostBytes) return { text: decoderOf(encoding).decode(bytes), isCut: false };
  return { text: decoderOf(encoding, true).decode(bytes.subarray(0, mostBytes), { stream: true }), isCut: true };
}

/** Finds the encoding that a commit's header names. */
export function encodingOf(headers: readonly Header[]): string | undefined {
  return headers.find(({ name }) => name === "encoding")?.value;
}

/** Makes a decoder, or takes a shared one.
 * @param isCut whether the text is cut off: then the decoder must be a new one, because it holds
 *   back the rest */
function decoderOf(encoding: string | undefined, isCut = false): TextDecoder {
  if (encoding === undefined) return isCut ? new TextDecoder() : UTF_8;
  try {
    return new TextDecoder(encoding);
  } catch {
    return isCut ? new TextDecoder() : UTF_8;
  }
}
