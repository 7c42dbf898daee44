import type { ObjectType } from "../../format/object.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { type ShownCommit, showCommitContent, type ShownTag, showTagContent } from "../objects/shown-object.ts";
import { findTyped } from "./locate-file.ts";

/** The largest tree or blob that is shown as JSON: it is in memory several times on its way. */
export const MAX_SHOWN_BYTES = 8 * 1024 * 1024;

/** A commit or tag by its id. */
export interface ObjectRequest {
  /** Hex. */
  readonly oid: string;
  /** Of its message, from 1. */
  readonly part: number;
}

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
