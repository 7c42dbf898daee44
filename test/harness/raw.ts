/** Requests, pkt-lines and packs built with node:http, node:zlib and node:crypto only, without the
 * Worker's code, so that both cannot have the same error. */
import { createHash } from "node:crypto";
import { type IncomingHttpHeaders, request as sendRequest } from "node:http";
import { deflateSync, gzipSync } from "node:zlib";
import { authorization } from "./authorization.ts";

/** A request, built by hand. */
export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An iterable is sent chunked, without a length; each piece is one chunk. */
  readonly body?: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Compresses a body given in one piece, and sets the header. */
  readonly gzip?: boolean;
}

/** The response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends a request, with the token of HOLDFAST_TOKEN unless the headers have one, and reads the
 * whole response.
 * @throws Error if the connection fails, or ends in the midst of the response */
export async function request(url: string, options: RawRequest = {}): Promise<RawResponse> {
  const { body } = options;
  const headers: Record<string, string> = { ...authorization(), ...options.headers };
  let whole = body instanceof Uint8Array ? body : undefined;
  if (options.gzip === true) {
    if (whole === undefined) throw new Error("only a body in one piece can be compressed");
    whole = gzipSync(whole);
    headers["content-encoding"] = "gzip";
  }
  if (whole !== undefined) headers["content-length"] = String(whole.length);
  return new Promise((resolve, reject) => {
    const outgoing = sendRequest(url, {
      method: options.method ?? (body === undefined ? "GET" : "POST"),
      headers,
      agent: false,
    });
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () => {
        // Sends no more once the response is complete.
        outgoing.destroy();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) });
      });
    });
    if (body === undefined || whole !== undefined) outgoing.end(whole);
    else void writePieces(body as Iterable<Uint8Array>, outgoing).catch(reject);
  });
}

async function writePieces(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  outgoing: ReturnType<typeof sendRequest>,
): Promise<void> {
  for await (const piece of pieces) {
    if (outgoing.destroyed) return;
    await new Promise((written) => outgoing.write(piece, written));
  }
  outgoing.end();
}

/** The beginning of a body whose rest never comes. */
export async function* beginning(sizeBytes: number): AsyncGenerator<Buffer> {
  yield Buffer.alloc(sizeBytes, " ");
  await new Promise(() => {});
}

/** The special packets. @see gitprotocol-v2(5) */
export const FLUSH = Buffer.from("0000");
export const DELIM = Buffer.from("0001");
export const RESPONSE_END = Buffer.from("0002");

/** A pkt-line: four hexadecimal digits of its total length, then the payload.
 * @see gitprotocol-common(5) */
export function encodePkt(payload: string | Uint8Array): Buffer {
  const bytes = Buffer.from(payload as string);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
}

/** One packet of a response. */
export type Pkt = Buffer | "flush" | "delim" | "response-end";

/** Splits a response into its packets.
 * @throws Error if a length is not a number or exceeds the rest */
export function decodePkts(bytes: Buffer): Pkt[] {
  const pkts: Pkt[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const digits = bytes.toString("latin1", offset, offset + 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (length === 0) pkts.push("flush");
    else if (length === 1) pkts.push("delim");
    else if (length === 2) pkts.push("response-end");
    else if (length >= 4 && offset + length <= bytes.length) pkts.push(bytes.subarray(offset + 4, offset + length));
    else throw new Error(`no pkt-line at ${offset}: ${JSON.stringify(digits)} of ${bytes.length - offset} bytes`);
    offset += Math.max(4, length);
  }
  return pkts;
}

/** A response's packets as unchanged text, one char code per byte; special packets by name. */
export function decodeTexts(bytes: Buffer): string[] {
  return decodePkts(bytes).map((pkt) => (typeof pkt === "string" ? pkt : pkt.toString("latin1")));
}

/** A response's lines without their newlines; special packets by name. */
export function decodeLines(bytes: Buffer): string[] {
  return decodePkts(bytes).map((pkt) => (typeof pkt === "string" ? pkt : pkt.toString().replace(/\n$/, "")));
}

/** Separates the three bands. @see gitprotocol-pack(5), "Packfile Data" */
export function demux(pkts: readonly Pkt[]): {
  readonly data: Buffer;
  readonly progress: string;
  readonly error: string;
} {
  const bands: Buffer[][] = [[], [], []];
  for (const pkt of pkts) {
    if (typeof pkt === "string") continue;
    const band = bands[(pkt[0] ?? 0) - 1];
    if (band === undefined) throw new Error(`no band ${pkt[0]}`);
    band.push(pkt.subarray(1));
  }
  const [data = [], progress = [], error = []] = bands;
  return {
    data: Buffer.concat(data),
    progress: Buffer.concat(progress).toString(),
    error: Buffer.concat(error).toString(),
  };
}

const TYPE_NUMBERS = { commit: 1, tree: 2, blob: 3, tag: 4, "ofs-delta": 6, "ref-delta": 7 } as const;

/** A pack entry, correct or not. */
export interface RawEntry {
  readonly type: keyof typeof TYPE_NUMBERS;
  /** The object, or the delta's instructions. */
  readonly content: Uint8Array;
  /** For an OFS delta: distance from its base's first byte to this entry, bytes. */
  readonly distance?: number;
  /** For a REF delta: its base, in hexadecimal digits. */
  readonly baseOid?: string;
  /** The size in the header, instead of the true one. */
  readonly claimedSize?: number;
  /** The compressed bytes, instead of the true ones. */
  readonly compressed?: Uint8Array;
}

/** One pack entry. @see gitformat-pack(5) */
export function encodeEntry(entry: RawEntry): Buffer {
  let size = entry.claimedSize ?? entry.content.length;
  const header = [(TYPE_NUMBERS[entry.type] << 4) | (size % 16)];
  for (size = Math.floor(size / 16); size > 0; size = Math.floor(size / 128)) {
    header[header.length - 1]! |= 0x80;
    header.push(size % 128);
  }
  if (entry.type === "ofs-delta") header.push(...encodeDistance(entry.distance ?? 0));
  if (entry.type === "ref-delta") header.push(...Buffer.from(entry.baseOid ?? "", "hex"));
  return Buffer.concat([Buffer.from(header), entry.compressed ?? compress(entry.content)]);
}

/** From here on, trying to compress noise takes most of a test's time. */
const LARGE_BYTES = 64 * 1024;

/** Compresses as git does; large noise is stored, which takes as many bytes. */
function compress(content: Uint8Array): Buffer {
  const start = content.subarray(0, 4_096);
  const isNoise = content.length >= LARGE_BYTES && deflateSync(start).length > start.length;
  return deflateSync(content, isNoise ? { level: 0 } : {});
}

function encodeDistance(distance: number): number[] {
  const bytes = [distance % 128];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest--;
    bytes.unshift(0x80 | (rest % 128));
  }
  return bytes;
}

/** A pack of these entries with a correct trailer.
 * @param claimedCount number of entries in the header, instead of the true one */
export function encodePack(entries: readonly RawEntry[], claimedCount = entries.length): Buffer {
  const header = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  header.writeUInt32BE(claimedCount, 8);
  const bytes = Buffer.concat([header, ...entries.map(encodeEntry)]);
  return Buffer.concat([bytes, createHash("sha1").update(bytes).digest()]);
}

/** An object's id, in hexadecimal digits. */
export function hashObject(type: "commit" | "tree" | "blob" | "tag", content: Uint8Array): string {
  return createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex");
}

/** A tree's content from its entries, in the given order. */
export function encodeTree(
  entries: readonly { readonly mode: string; readonly name: string; readonly oid: string }[],
): Buffer {
  return Buffer.concat(
    entries.flatMap(({ mode, name, oid }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, "hex")]),
  );
}
