/** Pushes by hand, over HTTP. */
import { decodePkts, demux, encodePkt, FLUSH, request } from "./raw.ts";

/** An oid of nothing, in hexadecimal digits. */
export const NULL_HEX = "0".repeat(40);

/** The content type of a push. */
export const PUSH_TYPE = { "content-type": "application/x-git-receive-pack-request" };

/** One command; ids in hexadecimal digits, nothing where they are left out. */
export interface RawCommand {
  /** Text stands for its UTF-8 form. */
  readonly name: string | Uint8Array;
  readonly old?: string;
  readonly new?: string;
}

/** A push by hand. */
export interface RawPush {
  readonly commands: readonly RawCommand[];
  readonly pack?: Uint8Array;
  /** `report-status side-band-64k` unless set. */
  readonly capabilities?: string;
  /** Sent between the commands and the pack. */
  readonly pushOptions?: readonly string[];
}

/** How it was answered. */
export interface PushAnswer {
  readonly status: number;
  /** "ok" or the reason; empty when there is no report. */
  readonly unpack: string;
  /** By name, one char code a byte (up to its first space, if it is refused for one): null for ok, else the reason. */
  readonly refs: ReadonlyMap<string, string | null>;
  readonly progress: string;
  /** The body as text, for a response that is no report. */
  readonly text: string;
}

/** A push's commands with the flush packet that ends them, and its options. */
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
 * @param url the remote's, as git is given it */
export async function sendPush(url: string, push: RawPush): Promise<PushAnswer> {
  return sendBody(url, Buffer.concat([encodePushHead(push), push.pack ?? Buffer.alloc(0)]));
}

/** Sends anything as a push and reads the answer, side-band or not. */
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

/** Lists a remote's refs by receive-pack's advertisement: name → id. */
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
