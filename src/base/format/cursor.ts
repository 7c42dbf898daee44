import { fromByteString, toByteString } from "./byte-string.ts";
import { GitError } from "./errors.ts";

/** Length limit of a cursor in characters: enough for the longest path in a directory that lists
 * enter, 4,096 bytes, with a name as long, and short enough for a URL, which may have 16 KB. */
export const MAX_CURSOR_LENGTH = 12_000;

/** Encodes the position of the next page. Its strings are byte strings: UTF-8 would double those
 * that are not ASCII. */
export function encodeCursor(place: unknown): string {
  return fromByteString(JSON.stringify(place)).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Decodes a cursor.
 * @param check checks a value and returns the position; throws for any other value
 * @throws GitError "invalid" for a cursor that this server did not make, including when
 *   `check` throws */
export function decodeCursor<Place>(cursor: string, check: (value: unknown) => Place): Place {
  try {
    if (cursor.length > MAX_CURSOR_LENGTH) throw new RangeError("it is too long");
    return check(JSON.parse(toByteString(Uint8Array.fromBase64(cursor, { alphabet: "base64url" }))));
  } catch (cause) {
    throw new GitError("invalid", { what: "cursor", field: "cursor" }, { cause });
  }
}
