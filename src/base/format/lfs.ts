/** An LFS object's id: the SHA-256 of its bytes, in lowercase hex. */
export type LfsOid = string;

/** Whether a text is an LFS object's id. */
export function isLfsOid(text: string): text is LfsOid {
  return /^[0-9a-f]{64}$/.test(text);
}

/** Size above every pointer file's. */
export const MAX_POINTER_BYTES = 1_024;

/** The contents of a pointer file. */
interface LfsPointerText {
  readonly oid: LfsOid;
  readonly sizeBytes: number;
}

const VERSION = "version https://git-lfs.github.com/spec/v1\n";

/** Reads a pointer file, as `wasm/src/indexer/pointers.zig` does.
 * @param content byte string
 * @returns null: the content is no pointer file
 * @see git-lfs, docs/spec.md */
export function parsePointer(content: string): LfsPointerText | null {
  if (content.length >= MAX_POINTER_BYTES || !content.startsWith(VERSION)) return null;
  const lines = content.slice(VERSION.length).split("\n");
  const oid = lines.findLast((line) => line.startsWith("oid sha256:"))?.slice("oid sha256:".length);
  const size = lines.findLast((line) => line.startsWith("size "))?.slice("size ".length);
  if (oid === undefined || !/^[0-9a-f]{64}$/.test(oid) || size === undefined || !/^\d{1,16}$/.test(size)) return null;
  return Number(size) <= Number.MAX_SAFE_INTEGER ? { oid, sizeBytes: Number(size) } : null;
}
