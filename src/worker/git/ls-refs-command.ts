import type { Limits } from "../../base/format/configured-limits.ts";
import { isNullOid, OID_BYTES, toHex } from "../../base/format/oid.ts";
import type { RefList } from "../../contract/fetch.ts";
import { type FetchContext, refusalResponse, unknownRepositoryResponse } from "./fetch-context.ts";
import type { ReadArguments } from "./fetch-arguments.ts";
import { PacketText } from "../../base/http/packet-text.ts";
import type { Refusal } from "./request-lines.ts";
import { resultResponse } from "../../base/http/smart-http.ts";

/** Byte limit for all `ref-prefix` arguments. They are only a hint: beyond the limit all are
 * ignored, as when there are too many. */
const MAX_PREFIX_BYTES = 4 * 1024 * 1024;

/** The arguments of `ls-refs`. @see gitprotocol-v2(5) */
class LsRefsArguments {
  peel = false;
  symrefs = false;
  unborn = false;
  #prefixes: string[] | null = [];
  #prefixBytes = 0;
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** The prefixes to list; empty: all refs. */
  get prefixes(): string[] {
    return this.#prefixes ?? [];
  }

  accept(line: string): Refusal {
    if (line === "peel") this.peel = true;
    else if (line === "symrefs") this.symrefs = true;
    else if (line === "unborn") this.unborn = true;
    else if (line.startsWith("ref-prefix ")) this.#addPrefix(line.slice("ref-prefix ".length));
    else return `ls-refs: unexpected line: '${line}'`;
    return null;
  }

  #addPrefix(prefix: string): void {
    this.#prefixBytes += prefix.length;
    this.#prefixes?.push(prefix);
    const tooMany =
      (this.#prefixes?.length ?? 0) >= this.#limits.maxRefPrefixes || this.#prefixBytes > MAX_PREFIX_BYTES;
    if (tooMany) this.#prefixes = null;
  }
}

/** Serves the command `ls-refs`. @see gitprotocol-v2(5) */
export async function handleLsRefs(readArguments: ReadArguments, { source, limits }: FetchContext): Promise<Response> {
  const args = new LsRefsArguments(limits);
  const refusal = await readArguments((line) => args.accept(line));
  if (refusal !== null) return refusalResponse(refusal);
  const refs = await source.refs(args.prefixes);
  return refs === null ? unknownRepositoryResponse() : resultResponse("git-upload-pack", encodeRefs(refs, args));
}

function encodeRefs({ head, names, oids, peeled }: RefList, args: LsRefsArguments): Uint8Array {
  const packets = new PacketText();
  const { prefixes } = args;
  if (head !== null && (prefixes.length === 0 || prefixes.some((prefix) => "HEAD".startsWith(prefix)))) {
    const symref = args.symrefs ? ` symref-target:${head.target}` : "";
    if (head.oid !== null) packets.line(`${toHex(head.oid)} HEAD${symref}`);
    else if (args.unborn && args.symrefs) packets.line(`unborn HEAD${symref}`);
  }
  names.forEach((name, i) => {
    const at = i * OID_BYTES;
    const isTag = args.peel && !isNullOid(peeled.subarray(at, at + OID_BYTES));
    packets.line(`${toHex(oids, at)} ${name}${isTag ? ` peeled:${toHex(peeled, at)}` : ""}`);
  });
  return packets.flush().toBytes();
}
