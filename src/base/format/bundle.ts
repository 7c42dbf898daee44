import { LF, fromByteString, toByteString } from "./byte-string.ts";
import { GitError } from "./errors.ts";
import { checkLimit } from "./limits.ts";
import { concatOids, fromHex, isHexOid, OID_BYTES, OID_HEX_LENGTH, type Oid, toHex } from "./oid.ts";

const SIGNATURE = "# v2 git bundle\n";

/** Length limit of a quoted line in an error, in characters: a line may have megabytes. */
const QUOTED_CHARS = 200;

/** A bundle's header. */
export interface BundleHeader {
  /** Commits that the reader must have. */
  readonly prerequisites: readonly Oid[];
  /** Names of the refs that can be fetched from it, byte strings. */
  readonly names: readonly string[];
  /** Packed ids of the refs' targets, `OID_BYTES` each. */
  readonly oids: Uint8Array;
}

/** Encodes a bundle's header, version 2. The pack follows it directly.
 * @see gitformat-bundle(5) */
export function encodeBundleHeader({ prerequisites, names, oids }: BundleHeader): Uint8Array {
  const lines = [
    ...prerequisites.map((oid) => `-${toHex(oid)} \n`),
    ...names.map((name, i) => `${toHex(oids, i * OID_BYTES)} ${name}\n`),
  ];
  return fromByteString(`${SIGNATURE}${lines.join("")}\n`);
}

/** Decodes a bundle's header, version 2.
 * @param bytes from the bundle's first byte, at least up to the pack
 * @returns the header, and the offset of the pack
 * @throws GitError "invalid" when the bytes are no such header
 * @see gitformat-bundle(5) */
export function decodeBundleHeader(bytes: Uint8Array): { header: BundleHeader; packOffset: number } {
  checkBundleSignature(bytes);
  const prerequisites: Oid[] = [];
  const names: string[] = [];
  const oids: Oid[] = [];
  for (let at = SIGNATURE.length; ;) {
    const end = bytes.indexOf(LF, at);
    if (end < 0) throw malformed("its header is cut short");
    const line = toByteString(bytes.subarray(at, end));
    at = end + 1;
    if (line === "") return { header: { prerequisites, names, oids: concatOids(oids) }, packOffset: at };
    const isPrerequisite = line.startsWith("-");
    const hex = line.slice(isPrerequisite ? 1 : 0).slice(0, OID_HEX_LENGTH);
    const rest = line.slice((isPrerequisite ? 1 : 0) + OID_HEX_LENGTH);
    // Git writes no space after a prerequisite without a comment.
    if (!isHexOid(hex) || !(rest.startsWith(" ") || (isPrerequisite && rest === ""))) {
      throw malformed(`its header has a line ${JSON.stringify(line.slice(0, QUOTED_CHARS))}`);
    }
    if (isPrerequisite) {
      prerequisites.push(fromHex(hex));
    } else {
      names.push(rest.slice(1));
      oids.push(fromHex(hex));
    }
  }
}

/** Whether bytes are the beginning of a bundle of any version. No pack begins like this. */
export function isBundle(bytes: Uint8Array): boolean {
  return toByteString(bytes.subarray(0, 3)) === SIGNATURE.slice(0, 3);
}

/** Reads a bundle up to its pack.
 * @param readPiece returns the next piece; null at the end. The first piece has a whole
 *   signature
 * @param limitBytes size limit of the header
 * @returns the header, and the bytes of the pack read so far
 * @throws GitError "invalid" when this is not a readable bundle, "too-large", and errors of
 *   `readPiece` */
export async function readBundleHeader(
  readPiece: () => Promise<Uint8Array | null>,
  limitBytes: number,
): Promise<{ header: BundleHeader; rest: Uint8Array }> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for (let piece = await readPiece(); piece !== null; piece = await readPiece()) {
    if (sizeBytes === 0) checkBundleSignature(piece);
    const isWhole = hasEmptyLine(piece, pieces.at(-1)?.at(-1) === LF);
    pieces.push(piece);
    sizeBytes += piece.length;
    if (isWhole) break;
    checkLimit("the bundle's header (bytes)", limitBytes, sizeBytes);
  }
  const bytes = Buffer.concat(pieces);
  const { header, packOffset } = decodeBundleHeader(bytes);
  return { header, rest: bytes.subarray(packOffset) };
}

/** @param isAfterLine whether the previous piece ended a line */
function hasEmptyLine(piece: Uint8Array, isAfterLine: boolean): boolean {
  return (isAfterLine && piece[0] === LF) || Buffer.from(piece.buffer, piece.byteOffset, piece.length).includes("\n\n");
}

/** Refuses anything but a bundle of version 2. Later versions are for other object formats and for
 * partial histories.
 * @throws GitError "invalid" */
function checkBundleSignature(bytes: Uint8Array): void {
  const signature = toByteString(bytes.subarray(0, SIGNATURE.length));
  if (signature === SIGNATURE) return;
  const [, version] = /^# v(\d+) git bundle\n/.exec(signature) ?? [];
  throw malformed(
    version === undefined
      ? "it does not begin with a bundle's signature"
      : `it has version ${version}, and only version 2 is supported`,
  );
}

function malformed(reason: string): GitError {
  return new GitError("invalid", { what: "bundle", reason });
}
