/** Pushes over HTTP, built by hand. */
import { decodePkts, demux, encodePkt, FLUSH, request } from "./raw.ts";

/** The null oid in hexadecimal digits. */
export const NULL_HEX = "0".repeat(40);

/** The content type of a push. */
export const PUSH_TYPE = { "content-type": "application/x-git-receive-pack-request" };

/** One command; ids in hexadecimal digits, the null oid if omitted. */
export interface RawCommand {
  /** Text is encoded as UTF-8. */
  readonly name: string | Uint8Array;
  readonly old?: string;
  readonly new?: string;
}

/** A push, built by hand. */
export interface RawPush {
  readonly commands: readonly RawCommand[];
  readonly pack?: Uint8Array;
  /** Default: `report-status side-band-64k`. */
  readonly capabilities?: string;
  /** Sent between the commands and the pack. */
  readonly pushOptions?: readonly string[];
}

/** The response to it. */
export interface PushAnswer {
  readonly status: number;
  /** "ok" or the reason; empty without a report. */
  readonly unpack: string;
  /** By name, one char code per byte (up to its first space, if it is refused for one): null for
   * ok, else the reason. */
  readonly refs: ReadonlyMap<string, string | null>;
  readonly progress: string;
  /** The body as text, if it is not a report. */
  readonly text: string;
}

/** A push's commands, the flush packet, and its options. */
export function encodePushHead({
  commands,
  capabilities = "report-status side-band-64k",
  pushOptions,
}: RawPush): Buffer {
  const lines = commands.map((command, i) =>
    encodePkt(
      Buffer.concat([
        Buffer.from(`${command.old ?? NULL_HEX} ${command.new ?? NULL_HEX} `),
        Buffer.from(command.name as string),
        Buffer.from(i === 0 ? `\0 ${capabilities}` : ""),
      ]),
    ),
  );
  const options = pushOptions === undefined ? [] : [...pushOptions.map((option) => encodePkt(option)), FLUSH];
  return Buffer.concat([...lines, FLUSH, ...options]);
}

/** Sends a push.
 * @param url of the remote, as for git */
export async function sendPush(url: string, push: RawPush): Promise<PushAnswer> {
  return sendBody(url, Buffer.concat([encodePushHead(push), push.pack ?? Buffer.alloc(0)]));
}

/** Sends any bytes as a push and reads the response, with or without side-band. */
export async function sendBody(
  url: string,
  body: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>> = PUSH_TYPE,
): Promise<PushAnswer> {
  const response = await request(`${url}/git-receive-pack`, { method: "POST", headers, body });
  const text = response.body.toString("latin1");
  if (response.status !== 200) return { status: response.status, unpack: "", refs: new Map(), progress: "", text };
  const pkts = decodePkts(response.body);
  const first = pkts[0];
  const bare = typeof first === "string" || first === undefined || first.subarray(0, 7).toString() === "unpack ";
  const { data, progress } = bare ? { data: response.body, progress: "" } : demux(pkts);
  return { status: 200, ...parseReport(data), progress, text };
}

function parseReport(data: Buffer): Pick<PushAnswer, "unpack" | "refs"> {
  const refs = new Map<string, string | null>();
  let unpack = "";
  for (const pkt of decodePkts(data)) {
    if (typeof pkt === "string") continue;
    const [, word = "", rest = ""] = /^(\S+) ([^]*?)\n?$/.exec(pkt.toString("latin1")) ?? [];
    if (word === "unpack") unpack = rest;
    else if (word === "ok") refs.set(rest, null);
    else if (word === "ng") refs.set(rest.replace(/ [^]*$/, ""), rest.replace(/^[^ ]* /, ""));
  }
  return { unpack, refs };
}

/** Lists a remote's refs from receive-pack's advertisement: name → id. */
export async function readRefs(url: string): Promise<Map<string, string>> {
  const { status, body } = await request(`${url}/info/refs?service=git-receive-pack`);
  if (status !== 200) throw new Error(`info/refs was answered with ${status}: ${body.toString()}`);
  const lines = decodePkts(body)
    .filter((pkt) => typeof pkt !== "string")
    .map((pkt) => pkt.toString("latin1").replace(/\n$/, "").split("\0")[0]!);
  return new Map(
    lines
      .filter((line) => !line.startsWith("# service=") && !line.endsWith(" capabilities^{}"))
      .map((line) => [line.slice(41), line.slice(0, 40)]),
  );
}
