import { encodeText } from "../../base/format/byte-string.ts";
import { toHex } from "../../base/format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit } from "../objects/revision.ts";
import type { ShownCommit } from "../../contract/commits.ts";
import { showCommitContent } from "../objects/shown-object.ts";
import type { ShowRequest } from "../../contract/diffs.ts";

/** Reads a commit.
 * @throws GitError as `resolveCommit`, "storage-failed", "invalid" for the part */
export async function showCommit(repository: OpenRepository, { ref, part }: ShowRequest): Promise<ShownCommit> {
  const { oid, number } = await resolveCommit(repository, encodeText(ref));
  return showCommitContent(toHex(oid), (await repository.reader.read(number)).bytes, part);
}
