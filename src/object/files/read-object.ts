import type { ObjectType } from "../../base/format/object.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { ShownCommit, ShownTag, ObjectRequest } from "../../contract/commits.ts";
import { showCommitContent, showTagContent } from "../objects/shown-object.ts";
import { findTyped } from "./locate-file.ts";

/** Reads a commit.
 * @throws GitError "not-found", "wrong-type", "invalid" for the part */
export async function readCommit(repository: OpenRepository, { oid, part }: ObjectRequest): Promise<ShownCommit> {
  return showCommitContent(oid, await read(repository, oid, "commit"), part);
}

/** Reads an annotated tag.
 * @throws GitError as `readCommit` */
export async function readTag(repository: OpenRepository, { oid, part }: ObjectRequest): Promise<ShownTag> {
  return showTagContent(await read(repository, oid, "tag"), part);
}

async function read(repository: OpenRepository, oid: string, type: ObjectType): Promise<Uint8Array> {
  return (await repository.reader.read(findTyped(repository, oid, type).number)).bytes;
}
