import { checkLimit } from "../../format/limits.ts";
import type { ObjectType } from "../../format/object.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { findTyped } from "./locate-file.ts";

/** The largest object of any type that is shown as JSON: it is in memory several times on its
 * way. */
export const MAX_SHOWN_BYTES = 8 * 1024 * 1024;

/** An object by its id. */
export interface ObjectRequest {
  /** Hex. */
  readonly oid: string;
  readonly type: Exclude<ObjectType, "blob" | "tree">;
}

/** Reads a commit or a tag.
 * @throws GitError "not-found", "wrong-type", "too-large" */
export async function readObject(repository: OpenRepository, { oid, type }: ObjectRequest): Promise<Uint8Array> {
  const { number, size } = findTyped(repository, oid, type);
  checkLimit(`the ${type}`, MAX_SHOWN_BYTES, size);
  return (await repository.reader.read(number)).bytes;
}
