/** An LFS object's id: the SHA-256 of its bytes, in lowercase hex. */
export type LfsOid = string;

/** Whether a text is an LFS object's id. */
export function isLfsOid(text: string): text is LfsOid {
  return /^[0-9a-f]{64}$/.test(text);
}
