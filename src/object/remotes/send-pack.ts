import { OBJECT_FORMAT } from "../../base/format/oid.ts";
import { ByteReader, encodePkt, FLUSH_PKT, pktText } from "../../base/format/pkt-line.ts";
import { ERROR_BAND, PACK_BAND } from "../../base/format/side-band.ts";
import { toByteString } from "../../base/format/byte-string.ts";
import { streamPieces } from "../../base/bytes/piece-stream.ts";
import { failed, type GitServer, type RemoteAnswer } from "./git-server.ts";
import { quote } from "./ref-lines.ts";
import type { RefUpdate } from "./plan-updates.ts";
import type { TargetRefs } from "./target-refs.ts";

/** Up to this size a request is sent with its length, as in git: not all servers accept a body
 * without. */
const WHOLE_BYTES = 1024 * 1024;

/** Maximum size of an answer in bytes: the report, and the messages before it. */
const MAX_REPORT_BYTES = 16 * 1024 * 1024;

/** Maximum length of a target's messages that are kept, in characters. */
const MAX_SAID = 500;

/** Result of a push. */
export interface PushReport {
  /** The reason why the target rejected the pack; null: it accepted it. */
  readonly unpack: string | null;
  /** By name, the reason why a ref did not move; null: it moved. */
  readonly refs: ReadonlyMap<string, string | null>;
}

/** Pushes to a target.
 * @param updates at least one
 * @param pack pieces that may be overwritten when the next one is read; null: there are only
 * deletions
 * @throws GitError as `GitServer.ask`, and any error of reading the pack
 * @see gitprotocol-pack(5) "Pushing Data To a Server" */
export async function sendPack(
  target: GitServer,
  { capabilities }: TargetRefs,
  updates: readonly RefUpdate[],
  pack: AsyncIterable<Uint8Array> | null,
): Promise<PushReport> {
  const hasBands = capabilities.has("side-band-64k");
  const pieces = pack?.[Symbol.asyncIterator]() ?? null;
  try {
    const head = encodeCommands(updates, capabilities, hasBands);
    const answer = await target.ask(pieces === null ? head : await encodeBody(head, pieces), false);
    try {
      return await readReport(answer, hasBands, updates);
    } finally {
      await answer.cancel();
    }
  } finally {
    await pieces?.return?.();
  }
}

function encodeCommands(
  updates: readonly RefUpdate[],
  capabilities: ReadonlySet<string>,
  hasBands: boolean,
): Uint8Array {
  const used = ["report-status", ...(hasBands ? ["side-band-64k"] : [])];
  if (capabilities.has(`object-format=${OBJECT_FORMAT}`)) used.push(`object-format=${OBJECT_FORMAT}`);
  const lines = updates.map((update, i) => {
    const words = i === 0 ? `\0 ${used.join(" ")}` : "";
    return encodePkt(`${update.old} ${update.new} ${update.name}${words}`);
  });
  return Buffer.concat([...lines, FLUSH_PKT]);
}

/** @returns the whole body, if it is small; else a stream */
async function encodeBody(
  head: Uint8Array,
  pack: AsyncIterator<Uint8Array>,
): Promise<Uint8Array | ReadableStream<Uint8Array>> {
  const first: Uint8Array[] = [head];
  for (let bytes = head.length; bytes <= WHOLE_BYTES;) {
    const { value, done } = await pack.next();
    if (done === true) return Buffer.concat(first);
    first.push(value.slice());
    bytes += value.length;
  }
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const value = first.shift();
    return value === undefined ? pack.next() : { value, done: false };
  };
  return streamPieces({ next }, () => undefined);
}

/** @see gitprotocol-pack(5) "Report Status" */
async function readReport(answer: RemoteAnswer, hasBands: boolean, updates: readonly RefUpdate[]): Promise<PushReport> {
  const bands = new Bands(answer);
  const lines = hasBands ? new ByteReader(() => bands.read()) : answer.packets;
  const readLine = async (): Promise<string | null> => {
    const pkt = await lines.readPkt();
    checkLength(answer);
    return pkt?.type === "data" ? pktText(pkt.payload) : null;
  };
  const first = await readLine();
  if (first?.startsWith("ERR ")) throw failed("target", quote(first.slice("ERR ".length)));
  if (first?.startsWith("unpack ") !== true)
    throw failed("target", `it did not say what became of the push${bands.said}`);
  const asked = new Set(updates.map(({ name }) => name));
  const refs = new Map<string, string | null>();
  for (let line = await readLine(); line !== null; line = await readLine()) {
    const [word = "", name = "", ...reason] = line.split(" ");
    if (!asked.has(name)) continue;
    if (word === "ok") refs.set(name, null);
    else if (word === "ng") refs.set(name, quote(reason.join(" ")) || "it did not say why");
  }
  const unpack = first === "unpack ok" ? null : `${quote(first.slice("unpack ".length))}${bands.said}`;
  const ofRef = (name: string): string | null => {
    const reason = refs.get(name);
    return reason === undefined ? "the target did not say what became of it" : reason && `${reason}${bands.said}`;
  };
  return { unpack, refs: new Map(updates.map(({ name }) => [name, ofRef(name)])) };
}

/** Separates the bands of an answer. */
class Bands {
  readonly #answer: RemoteAnswer;
  #said = "";

  constructor(answer: RemoteAnswer) {
    this.#answer = answer;
  }

  /** The target's last message, as the end of a sentence. */
  get said(): string {
    const text = quote(this.#said);
    return text === "" ? "" : ` (it said: ${text})`;
  }

  /** Reads the next piece of the report; null: it has ended. */
  async read(): Promise<Uint8Array | null> {
    for (;;) {
      const pkt = await this.#answer.packets.readPkt();
      if (pkt?.type !== "data") return null;
      checkLength(this.#answer);
      const [band] = pkt.payload;
      const content = pkt.payload.subarray(1);
      if (band === PACK_BAND && content.length > 0) return content;
      if (band === ERROR_BAND) throw failed("target", quote(toByteString(content)));
      if (band !== PACK_BAND) this.#said = (this.#said + toByteString(content)).slice(-MAX_SAID);
    }
  }
}

function checkLength({ packets }: RemoteAnswer): void {
  if (packets.consumedBytes > MAX_REPORT_BYTES)
    throw failed("target", `its answer has more than ${MAX_REPORT_BYTES} bytes`);
}
