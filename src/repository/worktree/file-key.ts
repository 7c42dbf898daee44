import { createHash } from "node:crypto";
import { fromByteString } from "../../format/byte-string.ts";

/** Bytes of a key.
 * @see https://developers.cloudflare.com/r2/platform/limits/ */
const MAX_KEY_BYTES = 1_024;

/** Bytes of a branch's folder, from which a hash takes its place: room for paths is left. */
const MAX_FOLDER_BYTES = 255;

/** What stands as it is in the name of a branch's folder. */
const PLAIN = /[A-Za-z0-9._-]/;

/** Path components and characters that clients of buckets, or URLs, do not leave as they are. */
const UNSAFE = /(^|\/)\.{0,2}(\/|$)|[\p{Cc}\\]/u;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The R2 key of a branch's file: `<repository>/worktrees/<branch>/<path>`, with all of the branch but letters, digits and `._-` percent-encoded,
 * so that a branch is one component and no two files share a key, also when a branch `a` goes and `a/b` comes. A path that is no safe key
 * (not UTF-8, too long, `..` in it, two paths to a bucket's Unicode normalization) lies below `<branch>%/`, by its SHA-1.
 * @param repositoryKey `RepositoryState.key`
 * @param branch byte string, without `refs/heads/`
 * @param path byte string */
export function worktreeFileKey(repositoryKey: string, branch: string, path: string): string {
  const folder = `${repositoryKey}/worktrees/${encodeBranch(branch)}`;
  const text = toSafeText(path);
  // Of a byte string, characters are bytes.
  const isShort = folder.length + 1 + path.length <= MAX_KEY_BYTES;
  return text !== null && isShort ? `${folder}/${text}` : `${folder}%/${sha1(path)}`;
}

/** No percent sign in it stands alone, so that `%` and `%%` at the end are names of their own. */
function encodeBranch(branch: string): string {
  const encoded = Array.from(branch, (char) =>
    PLAIN.test(char) ? char : `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");
  return encoded.length <= MAX_FOLDER_BYTES ? encoded : `${sha1(branch)}%%`;
}

function toSafeText(path: string): string | null {
  try {
    const text = strictUtf8.decode(fromByteString(path));
    return UNSAFE.test(text) || text !== text.normalize("NFC") ? null : text;
  } catch {
    return null;
  }
}

function sha1(byteString: string): string {
  return createHash("sha1").update(fromByteString(byteString)).digest("hex");
}
