import { encodeText } from "../../format/byte-string.ts";
import { toHex } from "../../format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit } from "../objects/revision.ts";
import { type ShownCommit, showCommitContent } from "../objects/shown-object.ts";

/** Which commit is shown. */
export interface ShowRequest {
  /** Text, a revision. */
  readonly ref: string;
  /** Of its message, from 1. */
  readonly part: number;
}

/** Reads a commit.
 * @throws GitError as `resolveCommit`, "storage-failed", "invalid" for the part */
export async function showCommit(repository: OpenRepository, { ref, part }: ShowRequest): Promise<ShownCommit> {
  const { oid, number } = await resolveCommit(repository, encodeText(ref));
  return showCommitContent(toHex(oid), (await repository.reader.read(number)).bytes, part);
}
