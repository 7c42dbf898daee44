// Shows a single commit or tag: whole, or in parts if its message is large.
import { decodeText } from "../../base/format/byte-string.ts";
import { parseCommit } from "../../base/format/commit.ts";
import { GitError } from "../../base/format/errors.ts";
import { MAX_SHOWN_HEADER_BYTES, MAX_SHOWN_PARENTS, MESSAGE_PART_BYTES } from "../../base/format/shown-limits.ts";
import { toHex } from "../../base/format/oid.ts";
import { parseTag } from "../../base/format/tag.ts";
import { cutText, describeHead, encodingOf, toIdentRecord } from "./commit-record.ts";
import type { ShownCommit, ShownTag, MessagePart } from "../../contract/commits.ts";

/** Whether a byte continues a character of UTF-8. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Limit of the continuation bytes of a character in UTF-8. */
const MAX_CONTINUATION_BYTES = 3;

/** Shows a commit.
 * @param oid hex
 * @param part part of the message, from 1
 * @throws GitError as `parseCommit`, "invalid" when there is no such part */
export function showCommitContent(oid: string, content: Uint8Array, part: number): ShownCommit {
  const { hasMoreHeaders: _, ...head } = parseCommit(content, MAX_SHOWN_PARENTS);
  const bounds = { messageBytes: 0, nameBytes: MAX_SHOWN_HEADER_BYTES, parents: MAX_SHOWN_PARENTS };
  const {
    message: __,
    messageTruncated: ___,
    ...record
  } = describeHead({ oid, head, isWhole: true, timeSeconds: 0 }, bounds);
  const signature = head.extraHeaders.find(({ name }) => name === "gpgsig")?.value ?? null;
  const isCut = signature !== null && signature.length > MAX_SHOWN_HEADER_BYTES;
  return {
    ...record,
    ...partOf(head.message, part, encodingOf(head.extraHeaders)),
    signature: signature && decodeText(signature.slice(0, MAX_SHOWN_HEADER_BYTES)),
    ...(isCut && { signatureTruncated: true }),
  };
}

/** Shows a tag object.
 * @param part part of the message, from 1
 * @throws GitError as `parseTag`, "invalid" when there is no such part */
export function showTagContent(content: Uint8Array, part: number): ShownTag {
  const { object, type, name, tagger, message } = parseTag(content);
  return {
    object: toHex(object),
    type,
    name: decodeText(name.slice(0, MAX_SHOWN_HEADER_BYTES)),
    ...(name.length > MAX_SHOWN_HEADER_BYTES && { nameTruncated: true }),
    tagger: tagger && toIdentRecord(tagger, { nameBytes: MAX_SHOWN_HEADER_BYTES, timeSeconds: 0 }),
    ...partOf(message, part),
  };
}

/** Takes one part of a message. All parts in order are the message.
 * @throws GitError "invalid" when there is no such part */
function partOf(message: Uint8Array, part: number, encoding?: string): MessagePart {
  const parts = Math.max(1, Math.ceil(message.length / MESSAGE_PART_BYTES));
  if (part > parts) {
    const reason = parts === 1 ? "the message comes in one part" : `the message comes in ${parts} parts`;
    throw new GitError("invalid", { what: "part", field: "part", actual: part, reason });
  }
  const [start, end] = [boundary(message, part - 1), boundary(message, part)];
  const { text } = cutText(message.subarray(start, end), Infinity, encoding);
  return parts === 1 ? { message: text } : { message: text, messageTruncated: true, messageParts: parts };
}

/** Finds the end of a part, between two characters of UTF-8. */
function boundary(message: Uint8Array, part: number): number {
  const at = Math.min(part * MESSAGE_PART_BYTES, message.length);
  let end = at;
  while (end < at + MAX_CONTINUATION_BYTES && isContinuation(message[end])) end++;
  return end;
}
