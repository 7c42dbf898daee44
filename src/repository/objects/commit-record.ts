// Commits as the API shows them: text where objects have bytes.
import type { ObjectNumber } from "../../store/numbers/kinds.ts";
import { fromByteString } from "../../format/byte-string.ts";
import { parseCommit } from "../../format/commit.ts";
import type { Ident } from "../../format/ident.ts";
import { OID_BYTES, toHex } from "../../format/oid.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { OpenRepository } from "./open-repository.ts";

/** Who did something, and when. */
export interface IdentRecord {
  readonly name: string;
  readonly email: string;
  /** ISO 8601 with the original offset from UTC. */
  readonly date: string;
}

/** A commit as the API shows it. */
export interface CommitRecord {
  readonly oid: string;
  readonly tree: string;
  readonly parents: string[];
  readonly author: IdentRecord;
  readonly committer: IdentRecord;
  /** Subject and body, unchanged. */
  readonly message: string;
}

/** The last second with a four-digit year in ISO 8601, with a margin for the offset. */
const LAST_SECONDS = Date.UTC(9999, 11, 30) / 1_000;

const UTF_8 = new TextDecoder();

/** Reads a commit's content.
 * @param oid in hex
 * @throws GitError "corrupt-object" as `parseCommit` */
export function toCommitRecord(oid: string, content: Uint8Array): CommitRecord {
  const commit = parseCommit(content);
  const decoder = decoderOf(commit.extraHeaders.find(({ name }) => name === "encoding")?.value);
  return {
    oid,
    tree: toHex(commit.tree),
    parents: commit.parents.map((parent) => toHex(parent)),
    author: toIdentRecord(commit.author, decoder),
    committer: toIdentRecord(commit.committer, decoder),
    message: decoder.decode(commit.message),
  };
}

/** Reads commits in the order of their numbers.
 * @param numbers object numbers of commits, in any order
 * @throws GitError "storage-failed" when one cannot be read */
export async function* readCommits(
  { reader, tables }: OpenRepository,
  numbers: readonly ObjectNumber[],
): AsyncGenerator<[number: ObjectNumber, commit: CommitRecord], void, void> {
  const sorted = NumberSet.fromUnsorted(numbers);
  const { oid } = tables.objects.locate(sorted);
  let at = 0;
  for await (const [number, { bytes }] of reader.readEach(sorted)) {
    yield [number, toCommitRecord(toHex(oid, OID_BYTES * at++), bytes)];
  }
}

/** Converts an identity. */
export function toIdentRecord({ name, email, timeSeconds, zone }: Ident, decoder = UTF_8): IdentRecord {
  return {
    name: decoder.decode(fromByteString(name)),
    email: decoder.decode(fromByteString(email)),
    date: toIsoDate(timeSeconds, zone),
  };
}

/** Writes a time as ISO 8601. Values that git cannot show either become 1970 (a time too far off)
 * or UTC (a zone of a day or more).
 * @param zone "+hhmm" or "-hhmm"
 * @see git's date.c: show_date() */
export function toIsoDate(timeSeconds: number, zone: string): string {
  const [, sign, hours, minutes] = /^([+-])(\d\d)([0-5]\d)$/.exec(zone) ?? ["", "+", "00", "00"];
  const isZone = Number(hours) < 24;
  const offsetSeconds = isZone ? Number(`${sign}1`) * (Number(hours) * 3_600 + Number(minutes) * 60) : 0;
  const local = new Date(((timeSeconds > LAST_SECONDS ? 0 : timeSeconds) + offsetSeconds) * 1_000);
  return local.toISOString().slice(0, 19) + (isZone ? `${sign}${hours}:${minutes}` : "+00:00");
}

/** @param encoding from a commit's header; an unknown one is read as UTF-8 */
function decoderOf(encoding: string | undefined): TextDecoder {
  if (encoding === undefined) return UTF_8;
  try {
    return new TextDecoder(encoding);
  } catch {
    return UTF_8;
  }
}
