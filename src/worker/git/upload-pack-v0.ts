import type { Limits } from "../../base/format/configured-limits.ts";
import { isNullOid, NULL_OID_HEX, OBJECT_FORMAT, OID_BYTES, OID_HEX_LENGTH, toHex } from "../../base/format/oid.ts";
import type { ByteReader } from "../../base/format/pkt-line.ts";
import { SIDE_BAND_64K_DATA_BYTES, SIDE_BAND_DATA_BYTES } from "../../base/format/side-band.ts";
import type { FetchRequest, Negotiation, PackCondition, RefList } from "../../contract/fetch.ts";
import { AGENT, resultResponse } from "../../base/http/smart-http.ts";
import { CutArguments } from "./cut-arguments.ts";
import { OidList } from "./fetch-arguments.ts";
import { type FetchContext, refusalResponse, unknownRepositoryResponse } from "./fetch-context.ts";
import { deliverPack } from "./pack-delivery.ts";
import { PacketText } from "../../base/http/packet-text.ts";
import { badFraming, readLines, type Refusal, writeShallowLines } from "./request-lines.ts";

/** Capabilities that the server offers, in git's order. */
const CAPABILITIES = [
  "multi_ack thin-pack side-band side-band-64k ofs-delta shallow deepen-since deepen-not deepen-relative no-progress",
  "include-tag multi_ack_detailed allow-tip-sha1-in-want allow-reachable-sha1-in-want no-done",
].join(" ");

/** The ref advertisement of protocol versions 0 and 1.
 * @see gitprotocol-http(5), gitprotocol-pack(5) "Reference Discovery" */
export function advertiseV0({ head, names, oids, peeled }: RefList, version: 0 | 1): Uint8Array {
  const packets = new PacketText().line("# service=git-upload-pack").flush();
  if (version === 1) packets.line("version 1");
  const symref = head?.oid ? ` symref=HEAD:${head.target}` : "";
  let capabilities = `\0${CAPABILITIES}${symref} filter object-format=${OBJECT_FORMAT} agent=${AGENT}`;
  const advertise = (oid: string, name: string): void => {
    packets.line(`${oid} ${name}${capabilities}`);
    capabilities = "";
  };
  if (head?.oid) advertise(toHex(head.oid), "HEAD");
  else if (names.length === 0) advertise(NULL_OID_HEX, "capabilities^{}");
  names.forEach((name, i) => {
    const at = i * OID_BYTES;
    advertise(toHex(oids, at), name);
    if (!isNullOid(peeled.subarray(at, at + OID_BYTES))) packets.line(`${toHex(peeled, at)} ${name}^{}`);
  });
  return packets.flush().toBytes();
}

/** The lines that a client of protocol 0 or 1 sends before its haves: its wants, the first with its
 * capabilities, then shallow, depth and filter lines. */
class Needs {
  readonly wants: OidList;
  readonly cut: CutArguments;
  #capabilities: ReadonlySet<string> = new Set();

  constructor(limits: Limits) {
    this.wants = new OidList(limits.maxWants);
    this.cut = new CutArguments(limits);
  }

  has(capability: string): boolean {
    return this.#capabilities.has(capability);
  }

  accept(line: string): Refusal {
    if (!line.startsWith("want ")) return this.#acceptCut(line);
    const end = "want ".length + OID_HEX_LENGTH;
    const rest = line.slice(end);
    if (rest !== "" && !rest.startsWith(" ")) return `upload-pack: expected an object id, got '${line}'`;
    if (this.wants.count === 0) this.#capabilities = new Set(rest.split(" ").filter((word) => word !== ""));
    else if (rest !== "") return `upload-pack: capabilities belong to the first want: '${line}'`;
    return this.wants.add(line.slice("want ".length, end)) ?? this.#checkObjectFormat();
  }

  #acceptCut(line: string): Refusal {
    if (line.startsWith("filter ") && !this.has("filter")) return "upload-pack: filtering capability not negotiated";
    const refusal = this.cut.accept(line);
    return refusal === undefined ? `upload-pack: expected a want, got '${line}'` : refusal;
  }

  #checkObjectFormat(): Refusal {
    const format = [...this.#capabilities]
      .find((word) => word.startsWith("object-format="))
      ?.slice("object-format=".length);
    if (format === undefined || format === OBJECT_FORMAT) return null;
    return `mismatched object format: server ${OBJECT_FORMAT}; client ${format}`;
  }
}

/** Serves one request of protocol 0 or 1 over HTTP. Every request repeats the wants and the common
 * haves.
 * @throws GitError "bad-request" when it is badly framed
 * @see gitprotocol-pack(5) "Packfile Negotiation", gitprotocol-http(5) "Smart Service
 * git-upload-pack" */
export async function serveV0(reader: ByteReader, context: FetchContext): Promise<Response> {
  const needs = new Needs(context.limits);
  const needsEnd = await readLines(reader, (line) => needs.accept(line));
  if (typeof needsEnd === "object") return refusalResponse(needsEnd.refusal);
  if (needsEnd !== "flush") throw badFraming("the wants do not end with a flush packet");
  const round = new Round(context.limits);
  const roundEnd = await readLines(reader, (line) => round.accept(line));
  if (typeof roundEnd === "object") return refusalResponse(roundEnd.refusal);
  if (roundEnd === "delim" || (roundEnd === "end" && !round.isDone && round.haves.count > 0)) {
    throw badFraming("the haves do not end with a flush packet");
  }
  const isBegun = roundEnd === "flush" || round.isDone;
  const request = toRequest(needs, round);
  // The answer is empty, unless the repository is unknown, when nothing is wanted (a lone flush
  // packet) or no round of haves has begun. A client that changes its depth sends haves only after
  // it has learned its new shallow boundary.
  if (needs.wants.count === 0 || (!isBegun && request.deepen === null)) {
    const exists = (await context.source.refs(["HEAD"])) !== null;
    return exists ? resultResponse("git-upload-pack", new Uint8Array(0)) : unknownRepositoryResponse();
  }
  return answer(request, needs, isBegun, context);
}

/** One round of haves. */
class Round {
  readonly haves: OidList;
  /** Whether the client has sent all its haves: the pack is due. */
  isDone = false;

  constructor(limits: Limits) {
    this.haves = new OidList(limits.maxHaves);
  }

  accept(line: string): Refusal {
    if (this.isDone) return `upload-pack: expected nothing after 'done', got '${line}'`;
    if (line.startsWith("have ")) return this.haves.add(line.slice("have ".length));
    this.isDone = line === "done";
    return this.isDone ? null : `upload-pack: expected a have, got '${line}'`;
  }
}

/** The capabilities that change a response's bytes. */
const FRAMING_CAPABILITIES = [
  "multi_ack",
  "multi_ack_detailed",
  "no-done",
  "side-band",
  "side-band-64k",
  "no-progress",
];

function toRequest(needs: Needs, round: Round): FetchRequest {
  return {
    wants: needs.wants.toBytes(),
    wantRefs: [],
    ...needs.cut.toRequest(needs.has("deepen-relative")),
    haves: round.haves.toBytes(),
    packWhen: packCondition(needs, round),
    thinPack: needs.has("thin-pack"),
    ofsDelta: needs.has("ofs-delta"),
    includeTag: needs.has("include-tag"),
    framing: `v0 ${FRAMING_CAPABILITIES.filter((capability) => needs.has(capability)).join(" ")}`,
  };
}

async function answer(
  request: FetchRequest,
  needs: Needs,
  acknowledges: boolean,
  context: FetchContext,
): Promise<Response> {
  const outcome = await context.source.fetch(request);
  if (outcome.kind === "unknown-repository") return unknownRepositoryResponse();
  if (outcome.kind === "refused") return refusalResponse(outcome.message);
  if (outcome.kind === "not-our-ref") return refusalResponse(`upload-pack: not our ref ${outcome.oid}`);
  const packets = new PacketText();
  if (outcome.shallowUpdate !== null) {
    writeShallowLines(packets, outcome.shallowUpdate);
    packets.flush();
  }
  if (acknowledges) acknowledge(packets, needs, request, outcome.negotiation, outcome.pack !== null);
  if (outcome.pack === null) return resultResponse("git-upload-pack", packets.toBytes());
  const framing = { bandDataBytes: bandDataBytes(needs), progress: !needs.has("no-progress") };
  return deliverPack(outcome.pack, packets.toBytes(), context, framing);
}

function packCondition(needs: Needs, round: Round): PackCondition {
  if (round.isDone) return "done";
  return needs.has("no-done") && needs.has("multi_ack_detailed") ? "ready-line" : "never";
}

function bandDataBytes(needs: Needs): number | null {
  if (needs.has("side-band-64k")) return SIDE_BAND_64K_DATA_BYTES;
  return needs.has("side-band") ? SIDE_BAND_DATA_BYTES : null;
}

/** Writes the lines that answer a round, in the client's dialect.
 * @see git's upload-pack.c: get_common_commits() */
function acknowledge(
  packets: PacketText,
  needs: Needs,
  { haves, packWhen }: FetchRequest,
  { common, readyAfter }: Negotiation,
  sendsPack: boolean,
): void {
  const detailed = needs.has("multi_ack_detailed");
  const multiple = detailed || needs.has("multi_ack");
  const hex = (have: number): string => toHex(haves, have * OID_BYTES);
  const lastCommon = common.lastIndexOf(1);
  const firstCommon = common.indexOf(1);
  common.forEach((isCommon, have) => {
    const isReady = readyAfter > 0 && have >= readyAfter;
    if (isCommon === 1) {
      if (multiple) packets.line(`ACK ${hex(have)} ${detailed ? "common" : "continue"}`);
      else if (have === firstCommon) packets.line(`ACK ${hex(have)}`);
    } else if (multiple && isReady) {
      // Tells the client to stop searching this line of history.
      packets.line(`ACK ${hex(have)} ${detailed ? "ready" : "continue"}`);
    }
  });
  if (packWhen === "done") {
    if (lastCommon < 0) packets.line("NAK");
    else if (multiple) packets.line(`ACK ${hex(lastCommon)}`);
    return;
  }
  if (detailed && readyAfter > 0 && !common.includes(0)) packets.line(`ACK ${hex(lastCommon)} ready`);
  if (multiple || lastCommon < 0) packets.line("NAK");
  if (sendsPack) packets.line(`ACK ${hex(lastCommon)}`);
}
