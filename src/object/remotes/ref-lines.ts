// Parses the lines with a Git server's refs and capabilities.
import { decodeText } from "../../base/format/byte-string.ts";
import { GitError, isGitError } from "../../base/format/errors.ts";
import { checkLimit, MAX_REF_BYTES } from "../../base/format/limits.ts";
import { isHexOid, NULL_OID_HEX, OBJECT_FORMAT, OID_HEX_LENGTH } from "../../base/format/oid.ts";
import { pktText } from "../../base/format/pkt-line.ts";
import { failed, type RemoteAnswer, type RemoteRole } from "./git-server.ts";

/** Maximum size of an advertisement in bytes: its ids are in hex, and its lines have lengths. */
const MAX_ADVERTISED_BYTES = 3 * MAX_REF_BYTES;

/** Reads the first line of an advertisement, after the line with the service's name; null: none. */
export async function readFirstLine(answer: RemoteAnswer): Promise<string | null> {
  const first = await readLine(answer);
  if (first?.startsWith("# service=") !== true) return first;
  await readLine(answer);
  return readLine(answer);
}

/** Reads an advertisement of version 0 or 1.
 * @param first its first line
 * @param add is called for each line with an id in hex and the name that has it
 * @returns its capabilities
 * @throws GitError "unsupported" for another object format, or a shallow repository */
export async function readV0(
  answer: RemoteAnswer,
  first: string | null,
  add: (oid: string, name: string) => void,
): Promise<Set<string>> {
  const start = first === "version 1" ? await readLine(answer) : first;
  const [line = "", words = ""] = (start ?? "").split("\0", 2);
  const capabilities = words.split(" ");
  checkFormat(capabilities);
  for (let next: string | null = start === null ? null : line; next !== null; next = await readLine(answer)) {
    if (next.startsWith("shallow ")) throw isShallow(answer.role);
    const oid = next.slice(0, OID_HEX_LENGTH);
    if (!isHexOid(oid)) throw failed(answer.role, "a line of its refs has no id");
    // A repository without refs has the null id in the first line.
    if (oid !== NULL_OID_HEX) add(oid, next.slice(OID_HEX_LENGTH + 1));
  }
  return new Set(capabilities);
}

/** Reads a line.
 * @returns null at a packet without content
 * @throws GitError "unavailable" when the answer is interrupted, or reports an error,
 * "too-large" */
export async function readLine({ packets, role }: RemoteAnswer): Promise<string | null> {
  const pkt = await packets.readPkt();
  if (pkt === null) throw failed(role, "its list of refs was cut");
  checkLimit(`the ${role}'s list of refs (bytes)`, MAX_ADVERTISED_BYTES, packets.consumedBytes);
  if (pkt.type !== "data") return null;
  const text = pktText(pkt.payload);
  if (text.startsWith("ERR ")) throw failed(role, quote(text.slice("ERR ".length)));
  return text;
}

/** @param capabilities as a server lists them
 * @throws GitError "unsupported" for another object format */
export function checkFormat(capabilities: readonly string[]): void {
  const format = capabilities.find((word) => word.startsWith("object-format="));
  if (format === undefined || format === `object-format=${OBJECT_FORMAT}`) return;
  throw new GitError("unsupported", { what: quote(format), reason: `only ${OBJECT_FORMAT} is` });
}

/** The error for a shallow repository, whose history is incomplete. */
export function isShallow(role: RemoteRole): GitError {
  return new GitError("unsupported", { what: `a shallow ${role}`, reason: "its history is incomplete" });
}

/** Explains a failure of another host in words. */
export function explainRemote(role: RemoteRole, error: unknown): string {
  if (!isGitError(error)) return `an error of this server: ${String(error)}`;
  // The packets' reader words its errors for requests.
  if (error.code === "bad-request") return `the ${role}'s answer is malformed: ${String(error.data.reason)}`;
  return error.message;
}

/** Cleans another host's message for display. */
export function quote(message: string): string {
  return decodeText(message.slice(0, 500))
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
}
