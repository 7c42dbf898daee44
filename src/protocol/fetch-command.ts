import type { Limits } from "../format/limits.ts";
import { OID_BYTES, toHex } from "../format/oid.ts";
import { SIDE_BAND_64K_DATA_BYTES } from "../format/side-band.ts";
import type { FetchRequest, Negotiation, PackCondition } from "../repository/fetch-source.ts";
import { OidList, type ReadArguments, refuseCutHistory } from "./fetch-arguments.ts";
import { type FetchContext, refusalResponse, unknownRepositoryResponse } from "./fetch-context.ts";
import { packBody } from "./pack-response.ts";
import { PacketText } from "./packet-text.ts";
import type { Refusal } from "./request-lines.ts";
import { resultResponse } from "./smart-http.ts";

/** The arguments of `fetch`. @see gitprotocol-v2(5) */
class FetchArguments {
  readonly wants: OidList;
  readonly haves: OidList;
  readonly #flags = new Set<string>();

  constructor(limits: Limits) {
    this.wants = new OidList(limits.maxWants);
    this.haves = new OidList(limits.maxHaves);
  }

  has(flag: (typeof FLAGS)[number]): boolean {
    return this.#flags.has(flag);
  }

  accept(line: string): Refusal {
    if (line.startsWith("want ")) return this.wants.add(line.slice("want ".length));
    if (line.startsWith("have ")) return this.haves.add(line.slice("have ".length));
    if ((FLAGS as readonly string[]).includes(line)) {
      this.#flags.add(line);
      return null;
    }
    return refuseCutHistory(line) ?? `upload-pack: unexpected line: '${line}'`;
  }
}

const FLAGS = ["done", "thin-pack", "no-progress", "include-tag", "ofs-delta", "wait-for-done"] as const;

/** Serves the command `fetch`: acknowledgments while negotiating, then the pack. @see gitprotocol-v2(5) */
export async function handleFetch(readArguments: ReadArguments, context: FetchContext): Promise<Response> {
  const args = new FetchArguments(context.limits);
  const refusal = await readArguments((line) => args.accept(line));
  if (refusal !== null) return refusalResponse(refusal);
  const negotiates = args.haves.count > 0 && !args.has("done");
  if (args.wants.count === 0 && !args.has("wait-for-done")) {
    // Nothing is wanted, so nothing is sent, as git does; but of an unknown repository that would be a lie.
    const exists = (await context.source.refs(["HEAD"])) !== null;
    return exists ? resultResponse("git-upload-pack", new Uint8Array(0)) : unknownRepositoryResponse();
  }
  const request: FetchRequest = {
    wants: args.wants.toBytes(),
    wantRefs: [],
    shallows: new Uint8Array(0),
    deepen: null,
    filter: null,
    haves: args.haves.toBytes(),
    packWhen: packCondition(negotiates, args.has("wait-for-done")),
    thinPack: args.has("thin-pack"),
    ofsDelta: args.has("ofs-delta"),
    includeTag: args.has("include-tag"),
  };
  const outcome = await context.source.fetch(request);
  if (outcome.kind === "unknown-repository") return unknownRepositoryResponse();
  if (outcome.kind === "refused") return refusalResponse(outcome.message);
  if (outcome.kind === "not-our-ref") return refusalResponse(`upload-pack: not our ref ${outcome.oid}`);
  const packets = new PacketText();
  if (negotiates) acknowledge(packets, request, outcome.negotiation);
  if (outcome.plan === null) return resultResponse("git-upload-pack", packets.flush().toBytes());
  if (negotiates) packets.delim();
  const preamble = packets.line("packfile").toBytes();
  const framing = { bandDataBytes: SIDE_BAND_64K_DATA_BYTES, progress: !args.has("no-progress") };
  return resultResponse("git-upload-pack", packBody(preamble, outcome.plan, context, framing));
}

function packCondition(negotiates: boolean, waitsForDone: boolean): PackCondition {
  if (!negotiates) return "done";
  return waitsForDone ? "never" : "ready";
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
