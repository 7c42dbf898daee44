import { GitError } from "../../base/format/errors.ts";
import { checkLimit } from "../../base/format/limits.ts";
import { isHexOid, OBJECT_FORMAT } from "../../base/format/oid.ts";
import { encodePkt, FLUSH_PKT, type Pkt, pktText } from "../../base/format/pkt-line.ts";
import { ERROR_BAND, PACK_BAND } from "../../base/format/side-band.ts";
import { toByteString } from "../../base/format/byte-string.ts";
import { readPieces } from "../../base/format/read-pieces.ts";
import type { PackSource } from "../state/push.ts";
import { failed, type GitServer, type RemoteAnswer } from "./git-server.ts";
import { isShallow, quote } from "./ref-lines.ts";
import { type Advertisement, DELIM_PKT } from "./advertisement.ts";

/** Minimum number of a pack's bytes that must arrive in each `BODY_WAIT_MS` of waiting. */
const MIN_PACK_BYTES = 64 * 1024;

/** Maximum number of a boundary's commits that are used: it has one for each parallel line of
 * history. */
const MAX_BOUNDARY = 10_000;

/** Requests a pack, without negotiation: the upstream mostly knows the commits that are here.
 * @param wants ids in hex
 * @param haves ids in hex
 * @param maxBytes of the pack
 * @throws GitError as `GitServer.ask`, "unsupported" */
export async function fetchPack(
  upstream: GitServer,
  { isV2, capabilities }: Advertisement,
  wants: readonly string[],
  haves: readonly string[],
  maxBytes: number,
): Promise<UpstreamPack> {
  const answer = await upstream.ask(isV2 ? requestV2(wants, haves) : requestV0(capabilities, wants, haves), isV2);
  return new UpstreamPack(answer, isV2, maxBytes);
}

/** @see gitprotocol-v2(5) "fetch" */
function requestV2(wants: readonly string[], haves: readonly string[]): Uint8Array {
  const lines = ["thin-pack\n", "ofs-delta\n", "no-progress\n", ...wantsAndHaves(wants, haves), "done\n"];
  const head = ["command=fetch\n", `object-format=${OBJECT_FORMAT}`].map(encodePkt);
  return Buffer.concat([...head, DELIM_PKT, ...lines.map(encodePkt), FLUSH_PKT]);
}

/** @see gitprotocol-pack(5) "Packfile Negotiation" */
function requestV0(capabilities: ReadonlySet<string>, wants: readonly string[], haves: readonly string[]): Uint8Array {
  const band = ["side-band-64k", "side-band"].find((word) => capabilities.has(word));
  if (band === undefined) throw new GitError("unsupported", { what: "an upstream without side-band" });
  const used = [band, ...["thin-pack", "ofs-delta", "no-progress"].filter((word) => capabilities.has(word))];
  const [first, ...others] = wants.map((oid) => `want ${oid}`);
  const lines = [`${first} ${used.join(" ")}\n`, ...others.map((line) => `${line}\n`)];
  const ends = [...haves.map((oid) => `have ${oid}\n`), "done\n"];
  return Buffer.concat([...lines.map(encodePkt), FLUSH_PKT, ...ends.map(encodePkt)]);
}

/** Lists the commits at a depth below another one: the boundary of its shallow clone.
 * @param depth from 1, the commit itself
 * @returns ids in hex; empty: its history is not that deep
 * @throws GitError as `GitServer.ask` */
export async function listBoundary(upstream: GitServer, commit: string, depth: number): Promise<string[]> {
  const head = ["command=fetch\n", `object-format=${OBJECT_FORMAT}`].map(encodePkt);
  const lines = [`deepen ${depth}\n`, "no-progress\n", `want ${commit}\n`, "done\n"].map(encodePkt);
  const answer = await upstream.ask(Buffer.concat([...head, DELIM_PKT, ...lines, FLUSH_PKT]), true);
  const boundary: string[] = [];
  try {
    for (;;) {
      const pkt = await answer.packets.readPkt();
      if (pkt === null) throw failed("upstream", "its answer was cut");
      // The pack follows, which is not read.
      if (pkt.type !== "data" || boundary.length === MAX_BOUNDARY) return boundary;
      const text = pktText(pkt.payload);
      if (text === "packfile") return boundary;
      if (text.startsWith("ERR ")) throw failed("upstream", quote(text.slice("ERR ".length)));
      const oid = text.startsWith("shallow ") ? text.slice("shallow ".length) : "";
      if (isHexOid(oid)) boundary.push(oid);
    }
  } finally {
    await answer.cancel();
  }
}

function wantsAndHaves(wants: readonly string[], haves: readonly string[]): string[] {
  return [...wants.map((oid) => `want ${oid}\n`), ...haves.map((oid) => `have ${oid}\n`)];
}

/** A pack as it arrives from an upstream. */
class UpstreamPack implements PackSource {
  readonly #answer: RemoteAnswer;
  readonly #maxBytes: number;
  /** Whether the lines before the pack are still arriving. */
  #isAhead = true;
  readonly #isV2: boolean;
  #hasEnded = false;
  #packBytes = 0;

  constructor(answer: RemoteAnswer, isV2: boolean, maxBytes: number) {
    this.#answer = answer;
    this.#isV2 = isV2;
    this.#maxBytes = maxBytes;
  }

  /** Number of bytes that have arrived. */
  get packBytes(): number {
    return this.#packBytes;
  }

  /** @throws GitError "unavailable" when the answer is interrupted, too slow, or an error,
   * "too-large" */
  read(minimumBytes: number): Promise<Uint8Array | null> {
    return readPieces(() => this.#readPiece(), minimumBytes);
  }

  demandPace(minBytes: () => number): void {
    this.#answer.demandPace(() => Math.max(MIN_PACK_BYTES, minBytes()));
  }

  /** Cancels the rest. */
  cancel(): Promise<void> {
    return this.#answer.cancel();
  }

  async #readPiece(): Promise<Uint8Array | null> {
    while (!this.#hasEnded) {
      const pkt = await this.#answer.packets.readPkt();
      if (pkt === null) throw failed("upstream", "its pack was cut");
      if (this.#isAhead && this.#skips(pkt)) continue;
      this.#isAhead = false;
      if (pkt.type !== "data") {
        this.#hasEnded = true;
        return null;
      }
      const [band] = pkt.payload;
      if (band === ERROR_BAND) throw failed("upstream", quote(toByteString(pkt.payload.subarray(1))));
      if (band !== PACK_BAND || pkt.payload.length === 1) continue;
      if (this.#packBytes === 0) this.#answer.demandPace(() => MIN_PACK_BYTES);
      this.#packBytes += pkt.payload.length - 1;
      checkLimit("the upstream's pack (bytes)", this.#maxBytes, this.#packBytes);
      return pkt.payload.subarray(1);
    }
    return null;
  }

  /** Whether a packet precedes the pack. */
  #skips(pkt: Pkt): boolean {
    if (pkt.type !== "data") return this.#isV2 && pkt.type === "delim";
    const text = pkt.payload.length > 0 && pkt.payload[0]! > ERROR_BAND ? pktText(pkt.payload) : null;
    if (text === null) return false;
    if (text.startsWith("ERR ")) throw failed("upstream", quote(text.slice("ERR ".length)));
    if (text === "shallow-info" || text.startsWith("shallow ")) throw isShallow("upstream");
    if (text === "packfile" || text === "NAK" || text.startsWith("ACK ")) return true;
    throw failed("upstream", `it sent ${JSON.stringify(quote(text))} where a pack begins`);
  }
}
