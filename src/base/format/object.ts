import { fromByteString } from "./byte-string.ts";

/** The types of object, in git's words. */
export type ObjectType = "commit" | "tree" | "blob" | "tag";

/** An object type's number in packs and tables. @see gitformat-pack(5) "Object types" */
export type ObjectTypeNumber = 1 | 2 | 3 | 4;

/** Type numbers by name. */
export const COMMIT = 1;
export const TREE = 2;
export const BLOB = 3;
export const TAG = 4;

const NUMBER_OF_TYPE = { commit: COMMIT, tree: TREE, blob: BLOB, tag: TAG } as const;
const TYPE_OF_NUMBER = ["commit", "tree", "blob", "tag"] as const;

/** Finds an object type's number in packs. */
export function toTypeNumber(type: ObjectType): ObjectTypeNumber {
  return NUMBER_OF_TYPE[type];
}

/** Finds the object type of a number in packs.
 * @throws RangeError outside 1 to 4: a delta must be resolved first, since its type is its
 *   base's */
export function fromTypeNumber(number: number): ObjectType {
  const type = TYPE_OF_NUMBER[number - 1];
  if (type === undefined) throw new RangeError(`${number} is not an object type`);
  return type;
}

/** Whether a word is an object type. */
export function isObjectType(word: string): word is ObjectType {
  return Object.hasOwn(NUMBER_OF_TYPE, word);
}

/** Makes the header that is hashed before an object's content: "<type> <size>" and a NUL.
 * @param sizeBytes the content's length */
export function objectHeader(type: ObjectType, sizeBytes: number): Uint8Array {
  return fromByteString(`${type} ${sizeBytes}\0`);
}
