import { decodeText, encodeText } from "../../format/byte-string.ts";
import { parseCommit } from "../../format/commit.ts";
import { toHex } from "../../format/oid.ts";
import { type CommitRecord, toCommitRecord } from "../objects/commit-record.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit } from "../objects/revision.ts";

/** A commit with its other headers. */
export interface ShownCommit extends CommitRecord {
  /** The signature as in the commit (OpenPGP, SSH or X.509), not verified. Null: the commit is not
   * signed. */
  readonly signature: string | null;
}

/** Reads a commit.
 * @param ref text, a revision
 * @throws GitError as `resolveCommit`, "storage-failed" */
export async function showCommit(repository: OpenRepository, ref: string): Promise<ShownCommit> {
  const { oid, number } = await resolveCommit(repository, encodeText(ref));
  const { bytes } = await repository.reader.read(number);
  const signature = parseCommit(bytes).extraHeaders.find(({ name }) => name === "gpgsig");
  return {
    ...toCommitRecord(toHex(oid), bytes),
    signature: signature === undefined ? null : decodeText(signature.value),
  };
}
