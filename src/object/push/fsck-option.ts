import { includesRight, type Requester } from "../../base/access/caller.ts";
import type { FsckSetting } from "../../base/codec/fsck-messages.ts";
import { GitError } from "../../base/format/errors.ts";

/** The push option that changes the repository's fsck setting: `git push -o fsck=lenient`. */
const FSCK_OPTION = "fsck=";

/** Reads the fsck setting among push options; null: none.
 * @throws GitError "unsupported" for an unknown setting, "forbidden" when the caller may not set
 * it */
export function readFsckOption(options: readonly string[], { right }: Requester): FsckSetting | null {
  const text = options.findLast((option) => option.startsWith(FSCK_OPTION))?.slice(FSCK_OPTION.length);
  if (text === undefined) return null;
  if (text !== "strict" && text !== "default" && text !== "lenient")
    throw new GitError("unsupported", { what: `fsck=${text}`, reason: "choose strict, default or lenient" });
  if (includesRight(right, "admin")) return text;
  throw new GitError("forbidden", { what: `push option fsck=${text}`, reason: "it needs the right 'admin'" });
}
