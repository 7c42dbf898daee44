import { decodeText } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";
import { checkLimit, MAX_REF_BYTES, MAX_REFS_PER_PUSH } from "../../format/limits.ts";
import { isHexOid, NULL_OID_HEX, OBJECT_FORMAT, OID_HEX_LENGTH } from "../../format/oid.ts";
import { encodePkt, FLUSH_PKT, type ByteReader, pktText } from "../../format/pkt-line.ts";
import { isPushableRefName } from "../../format/ref-name.ts";
import { failed, type Upstream } from "./upstream.ts";

/** "0001": what follows are the arguments. */
export const DELIM_PKT: Uint8Array = Buffer.from("0001");

/** Bytes of an advertisement: ids are in hex there, and lines have lengths. */
const MAX_ADVERTISED_BYTES = 3 * MAX_REF_BYTES;

/** What an upstream offers. */
export interface Advertisement {
  readonly isV2: boolean;
  /** Words, of the protocol's version 0. */
  readonly capabilities: ReadonlySet<string>;
  /** Ids in hex by full name, byte strings; only those that are wanted. */
  readonly refs: ReadonlyMap<string, string>;
  /** The ref that HEAD names; null: unknown. */
  readonly head: string | null;
}

/** Reads the refs of an upstream, by protocol version 2, or by version 0 if it speaks no other.
 * @param prefixes of the refs that are wanted
 * @throws GitError "unsupported", "unavailable", "too-large", "bad-ref-name", and as `Upstream` */
export async function listRefs(upstream: Upstream, prefixes: readonly string[]): Promise<Advertisement> {
  const answer = await upstream.discover();
  const collected = new Collected(prefixes);
  try {
    let first = await readLine(answer.packets);
    if (first?.startsWith("# service=")) {
      await readLine(answer.packets);
      first = await readLine(answer.packets);
    }
    if (first !== "version 2") {
      const capabilities = await readV0(answer.packets, first, collected);
      return { isV2: false, capabilities, refs: collected.refs, head: collected.head };
    }
    checkFormat(await readLines(answer.packets));
  } finally {
    await answer.cancel();
  }
  await readV2(upstream, prefixes, collected);
  return { isV2: true, capabilities: new Set(), refs: collected.refs, head: collected.head };
}

/** The refs that are wanted, as they come. */
class Collected {
  readonly refs = new Map<string, string>();
  head: string | null = null;
  readonly #prefixes: readonly string[];

  constructor(prefixes: readonly string[]) {
    this.#prefixes = prefixes;
  }

  add(oid: string, name: string): void {
    if (!isHexOid(oid)) throw failed("a line of its refs has no id");
    if (!this.#prefixes.some((prefix) => name.startsWith(prefix)) || name.endsWith("^{}")) return;
    if (!isPushableRefName(name, false)) throw new GitError("bad-ref-name", { name: decodeText(name) });
    this.refs.set(name, oid);
    checkLimit("the number of the upstream's refs", MAX_REFS_PER_PUSH, this.refs.size, "choose some by `refs`");
  }
}

async function readV0(packets: ByteReader, first: string | null, collected: Collected): Promise<Set<string>> {
  const [line = "", words = ""] = (first ?? "").split("\0", 2);
  const capabilities = words.split(" ");
  checkFormat(capabilities);
  const symref = capabilities.find((word) => word.startsWith("symref=HEAD:"));
  collected.head = symref?.slice("symref=HEAD:".length) ?? null;
  for (let next: string | null = first === null ? null : line; next !== null; next = await readLine(packets)) {
    if (next.startsWith("shallow ")) throw isShallow();
    if (next === "version 1") throw new GitError("unsupported", { what: "version 1 of the protocol" });
    // A repository without refs says so in place of the first.
    if (!next.startsWith(NULL_OID_HEX)) collected.add(next.slice(0, OID_HEX_LENGTH), next.slice(OID_HEX_LENGTH + 1));
  }
  return new Set(capabilities);
}

async function readV2(upstream: Upstream, prefixes: readonly string[], collected: Collected): Promise<void> {
  const request = Buffer.concat([
    ...["command=ls-refs\n", `object-format=${OBJECT_FORMAT}`].map(encodePkt),
    DELIM_PKT,
    ...["symrefs\n", "ref-prefix HEAD\n", ...prefixes.map((prefix) => `ref-prefix ${prefix}\n`)].map(encodePkt),
    FLUSH_PKT,
  ]);
  const answer = await upstream.ask(request, true);
  try {
    for (let line = await readLine(answer.packets); line !== null; line = await readLine(answer.packets)) {
      const [oid = "", name = "", ...attributes] = line.split(" ");
      const target = attributes.find((word) => word.startsWith("symref-target:"));
      if (name === "HEAD") collected.head = target?.slice("symref-target:".length) ?? null;
      collected.add(oid, name);
    }
  } finally {
    await answer.cancel();
  }
}

/** Lines up to the next packet without content. */
async function readLines(packets: ByteReader): Promise<string[]> {
  const lines: string[] = [];
  for (let line = await readLine(packets); line !== null; line = await readLine(packets)) lines.push(line);
  return lines;
}

/** @returns null at a packet without content */
async function readLine(packets: ByteReader): Promise<string | null> {
  const pkt = await packets.readPkt();
  if (pkt === null) throw failed("its list of refs was cut");
  checkLimit("the upstream's list of refs (bytes)", MAX_ADVERTISED_BYTES, packets.consumedBytes);
  if (pkt.type !== "data") return null;
  const text = pktText(pkt.payload);
  if (text.startsWith("ERR ")) throw failed(quote(text.slice("ERR ".length)));
  return text;
}

function checkFormat(capabilities: readonly string[]): void {
  const format = capabilities.find((word) => word.startsWith("object-format="));
  if (format === undefined || format === `object-format=${OBJECT_FORMAT}`) return;
  throw new GitError("unsupported", { what: quote(format), reason: `only ${OBJECT_FORMAT} is` });
}

/** The error for an upstream that lacks its own history. */
export function isShallow(): GitError {
  return new GitError("unsupported", { what: "a shallow upstream", reason: "its history is incomplete" });
}

/** A message of the upstream, fit to be shown. */
export function quote(message: string): string {
  return decodeText(message.slice(0, 500))
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
}
