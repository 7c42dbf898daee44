import { createHash } from "node:crypto";
import { fromByteString } from "../../base/format/byte-string.ts";

/** The most bytes of a key.
 * @see https://developers.cloudflare.com/r2/platform/limits/ */
const MAX_KEY_BYTES = 1_024;

/** A branch's folder name that is longer, in bytes, is replaced by a hash. So there is always space
 * for paths. */
const MAX_FOLDER_BYTES = 255;

/** Characters of a branch's name that are not encoded. */
const PLAIN = /[A-Za-z0-9._-]/;

/** Path components and characters that bucket clients or URLs may change. */
const UNSAFE = /(^|\/)\.{0,2}(\/|$)|[\p{Cc}\\]/u;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The R2 key of a branch's file: `<repository>/worktrees/<branch>/<path>`. In the branch,
 * everything but letters, digits and `._-` is percent-encoded, so a branch is one component and no
 * two files share a key, even when a branch `a` is deleted and `a/b` created. A path that is not a
 * safe key (not UTF-8, too long, with `..`, ambiguous under a bucket's Unicode normalization) is
 * stored below `<branch>%/`, under its SHA-1.
 * @param repositoryKey `RepositoryState.key`
 * @param branch byte string, without `refs/heads/`
 * @param path byte string */
export function worktreeFileKey(repositoryKey: string, branch: string, path: string): string {
  const folder = `${repositoryKey}/worktrees/${encodeBranch(branch)}`;
  const text = toSafeText(path);
  // A character of a byte string is one byte.
  const isShort = folder.length + 1 + path.length <= MAX_KEY_BYTES;
  return text !== null && isShort ? `${folder}/${text}` : `${folder}%/${sha1(path)}`;
}

/** The encoding never ends in a percent sign, so names with `%` or `%%` at the end are distinct. */
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
