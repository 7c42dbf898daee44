import { fromByteString, toByteString } from "./byte-string.ts";
import { GitError } from "./errors.ts";
import { concatOids, fromHex, isHexOid, OID_BYTES, OID_HEX_LENGTH, type Oid, toHex } from "./oid.ts";

const SIGNATURE = "# v2 git bundle\n";

const LF = 10;

/** Characters of a line that an error shows: it may have megabytes. */
const QUOTED_CHARS = 200;

/** What a bundle says before its pack. */
export interface BundleHeader {
  /** Commits that the reader must have. */
  readonly prerequisites: readonly Oid[];
  /** Names of the refs that can be fetched from it, byte strings. */
  readonly names: readonly string[];
  /** What they point at, packed, `OID_BYTES` each. */
  readonly oids: Uint8Array;
}

/** Encodes a bundle's header, version 2; the pack follows it at once.
 * @see gitformat-bundle(5) */
export function encodeBundleHeader({ prerequisites, names, oids }: BundleHeader): Uint8Array {
  const lines = [
    ...prerequisites.map((oid) => `-${toHex(oid)} \n`),
    ...names.map((name, i) => `${toHex(oids, i * OID_BYTES)} ${name}\n`),
  ];
  return fromByteString(`${SIGNATURE}${lines.join("")}\n`);
}

/** Decodes a bundle's header, version 2.
 * @param bytes from the bundle's first byte on, at least as far as the pack
 * @returns the header, and where the pack begins
 * @throws GitError "invalid" when this is no such bundle
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
    // git writes no space where a prerequisite has no comment.
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

/** Refuses what does not begin as a bundle of version 2 does: later ones are for other object formats, and for parts of a history.
 * @throws GitError "invalid" */
export function checkBundleSignature(bytes: Uint8Array): void {
  const signature = toByteString(bytes.subarray(0, SIGNATURE.length));
  if (signature === SIGNATURE) return;
  const [, version] = /^# v(\d+) git bundle\n/.exec(signature) ?? [];
  throw malformed(version === undefined ? "this is none" : `it is of version ${version}, and 2 is what can be read`);
}

function malformed(reason: string): GitError {
  return new GitError("invalid", { what: "bundle", reason });
}
