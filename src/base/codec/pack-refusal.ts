import { GitError, objectTooLarge, packTooLarge } from "../format/errors.ts";
import type { Limits } from "../format/configured-limits.ts";
import { SHED_FILE } from "../format/limits.ts";
import { fromTypeNumber } from "../format/object.ts";
import { explainFinding } from "./fsck-meanings.ts";
import { FSCK_MESSAGES } from "./fsck-messages.ts";

/** Why a pack is refused, as in failure.zig. */
interface Refusal {
  code: number;
  detail: number;
  oid: string | null;
  offset: number;
  value: number;
  limits: Limits;
}

/** The error for an object that is too large: the user can find it by its size, where it was
 * refused before its bytes arrived. Files have one way out more than trees and commits. */
function refuseSize(oid: string | null, sizeBytes: number, limits: Limits): GitError {
  const isFile = sizeBytes > limits.maxObjectSizeBytes;
  const command = `git rev-list --objects --all | git cat-file --batch-check="%(objectsize) %(rest)" | grep "^${sizeBytes} "`;
  const wayOut = isFile ? SHED_FILE : "remove it from the history (git filter-repo), or split it";
  const what = oid === null ? "a file or another object in the pack (bytes)" : `object ${oid} (bytes)`;
  const limit = isFile ? limits.maxObjectSizeBytes : limits.maxResidentObjectBytes;
  return objectTooLarge(what, limit, sizeBytes, `${command} finds it; ${wayOut}`);
}

/** Turns a refusal of failure.zig into an error. */
export function explainRefusal({ code, detail, oid, offset, value, limits }: Refusal): GitError {
  const corrupt = (reason: string) => new GitError("corrupt-pack", { reason, offset, value });
  switch (code) {
    case 1:
      return corrupt(value === 0 ? "it does not begin with PACK" : `version ${value} is not supported`);
    case 2:
      return packTooLarge("objects in a pack", limits.maxPackObjects, value);
    case 3:
      return corrupt(`entry type ${value} does not exist`);
    case 4:
      return corrupt("an entry's header is malformed");
    case 5:
      return corrupt("an entry does not inflate to its declared size");
    case 6:
      return refuseSize(oid, value, limits);
    case 7:
      return packTooLarge("work of the push (bytes inflated, hashed and copied)", limits.maxPushWorkBytes, value);
    case 8:
      return corrupt("a delta's base offset is not an entry");
    case 9:
      return corrupt(`the delta base ${oid} is neither in it nor in the repository`);
    case 10:
      return corrupt("a delta is malformed");
    case 11:
      return new GitError("too-large", { what: "delta chain", limit: limits.maxDeltaDepth, actual: value });
    case 12:
      return new GitError("sha1-collision", { oid: oid! });
    case 13:
      return new GitError("bad-object", {
        oid: oid!,
        id: FSCK_MESSAGES[detail]!,
        reason: explainFinding(FSCK_MESSAGES[detail]!),
      });
    case 14:
      return new GitError("wrong-type", { oid: oid!, expected: fromTypeNumber(value), actual: fromTypeNumber(detail) });
    case 15:
      return corrupt("it ends too early");
    case 17:
      return packTooLarge("references in a pack", limits.maxPackReferences, value);
    case 18:
      return packTooLarge(
        "memory for the ids and LFS pointers of a pack (bytes)",
        limits.maxIndexBytes,
        limits.maxIndexBytes + value,
      );
    default:
      return new GitError("unavailable", { reason: "the pack indexer is out of memory", offset });
  }
}
