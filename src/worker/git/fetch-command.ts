import type { Limits } from "../../base/format/configured-limits.ts";
import { MAX_REF_NAME_BYTES, MAX_WANT_REF_BYTES } from "../../base/format/limits.ts";
import { OID_BYTES, toHex } from "../../base/format/oid.ts";
import { isRefName } from "../../base/format/ref-name.ts";
import { PACK_BAND, SIDE_BAND_64K_DATA_BYTES } from "../../base/format/side-band.ts";
import type { FetchOutcome, FetchRequest, Negotiation, PackCondition } from "../../contract/fetch.ts";
import { CutArguments } from "./cut-arguments.ts";
import { OidList, type ReadArguments } from "./fetch-arguments.ts";
import { type FetchContext, refusalResponse, unknownRepositoryResponse } from "./fetch-context.ts";
import { deliverPack } from "./pack-delivery.ts";
import { PacketText } from "../../base/http/packet-text.ts";
import { type Refusal, writeShallowLines } from "./request-lines.ts";
import { resultResponse } from "../../base/http/smart-http.ts";

/** The arguments of `fetch`. @see gitprotocol-v2(5) */
class FetchArguments {
  readonly wants: OidList;
  readonly wantRefs = new Set<string>();
  readonly haves: OidList;
  readonly cut: CutArguments;
  readonly #maxWantRefs: number;
  #wantRefBytes = 0;
  readonly #flags = new Set<string>();

  constructor(limits: Limits) {
    this.wants = new OidList(limits.maxWants);
    this.haves = new OidList(limits.maxHaves);
    this.cut = new CutArguments(limits);
    this.#maxWantRefs = limits.maxWants;
  }

  has(flag: (typeof FLAGS)[number]): boolean {
    return this.#flags.has(flag);
  }

  accept(line: string): Refusal {
    if (line.startsWith("want ")) return this.wants.add(line.slice("want ".length));
    if (line.startsWith("want-ref ")) return this.#addWantRef(line.slice("want-ref ".length));
    if (line.startsWith("have ")) return this.haves.add(line.slice("have ".length));
    if ((FLAGS as readonly string[]).includes(line)) {
      this.#flags.add(line);
      return null;
    }
    const refusal = this.cut.accept(line);
    return refusal === undefined ? `upload-pack: unexpected line: '${line}'` : refusal;
  }

  #addWantRef(name: string): Refusal {
    if (name.length > MAX_REF_NAME_BYTES || !isRefName(name, true)) return `unknown ref ${name}`;
    if (this.wantRefs.has(name)) return `duplicate want-ref ${name}`;
    this.wantRefs.add(name);
    this.#wantRefBytes += name.length;
    if (this.wantRefs.size > this.#maxWantRefs) return `upload-pack: more than ${this.#maxWantRefs} wanted refs`;
    return this.#wantRefBytes > MAX_WANT_REF_BYTES
      ? `upload-pack: more than ${MAX_WANT_REF_BYTES} bytes of wanted refs`
      : null;
  }
}

const FLAGS = [
  "done",
  "thin-pack",
  "no-progress",
  "include-tag",
  "ofs-delta",
  "wait-for-done",
  "deepen-relative",
  "sideband-all",
] as const;

/** Serves the command `fetch`: acknowledgments during negotiation, then the sections before the
 * pack, and the pack.
 * @see gitprotocol-v2(5) */
export async function handleFetch(readArguments: ReadArguments, context: FetchContext): Promise<Response> {
  const args = new FetchArguments(context.limits);
  const refusal = await readArguments((line) => args.accept(line));
  const refuse = (message: string): Response => refusalResponse(message, args.has("sideband-all"));
  if (refusal !== null) return refuse(refusal);
  const wantsNothing = args.wants.count === 0 && args.wantRefs.size === 0;
  if (wantsNothing && !args.has("wait-for-done")) {
    // Without wants nothing is sent, as in git. But an unknown repository must not look empty.
    const exists = (await context.source.refs(["HEAD"])) !== null;
    return exists ? resultResponse("git-upload-pack", new Uint8Array(0)) : unknownRepositoryResponse();
  }
  const request = toRequest(args);
  const outcome = await context.source.fetch(request);
  if (outcome.kind === "unknown-repository") return unknownRepositoryResponse();
  if (outcome.kind === "refused") return refuse(outcome.message);
  if (outcome.kind === "not-our-ref") return refuse(`upload-pack: not our ref ${outcome.oid}`);
  const packets = new PacketText(args.has("sideband-all") ? PACK_BAND : null);
  const { pack } = outcome;
  if (negotiates(args)) {
    acknowledge(packets, request, outcome.negotiation);
    if (pack !== null) packets.delim();
  }
  if (pack === null) return resultResponse("git-upload-pack", packets.flush().toBytes());
  describePack(packets, request, outcome);
  const framing = { bandDataBytes: SIDE_BAND_64K_DATA_BYTES, progress: !args.has("no-progress") };
  return deliverPack(pack, packets.toBytes(), context, framing);
}

function negotiates(args: FetchArguments): boolean {
  return args.haves.count > 0 && !args.has("done");
}

function toRequest(args: FetchArguments): FetchRequest {
  return {
    wants: args.wants.toBytes(),
    wantRefs: [...args.wantRefs],
    ...args.cut.toRequest(args.has("deepen-relative")),
    haves: args.haves.toBytes(),
    packWhen: packCondition(args),
    thinPack: args.has("thin-pack"),
    ofsDelta: args.has("ofs-delta"),
    includeTag: args.has("include-tag"),
    framing: `v2 ${args.has("no-progress")} ${args.has("sideband-all")}`,
  };
}

function packCondition(args: FetchArguments): PackCondition {
  if (!negotiates(args)) return "done";
  return args.has("wait-for-done") ? "never" : "ready";
}

/** Writes the acknowledgments section: the common haves, and `ready` when the pack follows. */
function acknowledge(
  packets: PacketText,
  { haves, packWhen }: FetchRequest,
  { common, readyAfter }: Negotiation,
): void {
  packets.line("acknowledgments");
  if (!common.includes(1)) packets.line("NAK");
  common.forEach((isCommon, i) => {
    if (isCommon === 1) packets.line(`ACK ${toHex(haves, i * OID_BYTES)}`);
  });
  if (packWhen === "ready" && readyAfter > 0) packets.line("ready");
}

/** Writes the sections between the acknowledgments and the pack, in the order of gitprotocol-v2(5),
 * in which git's client reads them. (Git's own server sends the refs first, so a fetch with both a
 * depth and a wanted ref fails there.) */
function describePack(
  packets: PacketText,
  { shallows }: FetchRequest,
  { shallowUpdate, wantedRefs }: Extract<FetchOutcome, { kind: "negotiated" }>,
): void {
  // As in git: a shallow client gets the section, and an empty one leaves its boundary unchanged.
  if (shallowUpdate !== null || shallows.length > 0) {
    packets.line("shallow-info");
    if (shallowUpdate !== null) writeShallowLines(packets, shallowUpdate);
    packets.delim();
  }
  if (wantedRefs.length > 0) {
    packets.line("wanted-refs");
    for (const { name, oid } of wantedRefs) packets.line(`${toHex(oid)} ${name}`);
    packets.delim();
  }
  packets.line("packfile");
}
