import { OBJECT_FORMAT } from "../../base/format/oid.ts";
import type { ByteReader } from "../../base/format/pkt-line.ts";
import { AGENT } from "../../base/http/smart-http.ts";
import { handleBundleUri } from "./bundle-uri-command.ts";
import { handleFetch } from "./fetch-command.ts";
import type { ReadArguments } from "./fetch-arguments.ts";
import { type FetchContext, refusalResponse } from "./fetch-context.ts";
import { handleLsRefs } from "./ls-refs-command.ts";
import { handleObjectInfo } from "./object-info-command.ts";
import { PacketText } from "../../base/http/packet-text.ts";
import { badFraming, readLines, type Refusal } from "./request-lines.ts";

/** Carries out a command of protocol v2. */
type Handle = (readArguments: ReadArguments, context: FetchContext) => Promise<Response>;

/** An advertised capability, in git's order. A new command is a new row. */
interface Capability {
  readonly name: string;
  /** The text after `=`; empty: none. */
  readonly features: string;
  /** Null: not a command. */
  readonly handle: Handle | null;
}

/** A command of protocol v2. */
type Command = Capability & { readonly handle: Handle };

const CAPABILITIES: readonly Capability[] = [
  { name: "ls-refs", features: "unborn", handle: handleLsRefs },
  { name: "fetch", features: "shallow wait-for-done filter ref-in-want sideband-all", handle: handleFetch },
  { name: "server-option", features: "", handle: null },
  { name: "object-format", features: OBJECT_FORMAT, handle: null },
  { name: "object-info", features: "", handle: handleObjectInfo },
  // Advertised whether or not there is a bundle: finding out would cost every client a second call,
  // and only clients configured for bundles ask.
  { name: "bundle-uri", features: "", handle: handleBundleUri },
];

/** The capability advertisement. @see gitprotocol-v2(5) */
export function advertiseV2(): Uint8Array {
  const packets = new PacketText().line("version 2").line(`agent=${AGENT}`);
  for (const { name, features } of CAPABILITIES) packets.line(features === "" ? name : `${name}=${features}`);
  return packets.flush().toBytes();
}

/** Serves one request of protocol v2; requests are stateless.
 * @throws GitError "bad-request" when it is badly framed, "too-large"
 * @see gitprotocol-v2(5) */
export async function serveV2(reader: ByteReader, context: FetchContext): Promise<Response> {
  const head = new RequestHead();
  const headEnd = await readLines(reader, (line) => head.accept(line));
  if (typeof headEnd === "object") return refusalResponse(headEnd.refusal);
  if (headEnd === "end") throw badFraming("the request ends without a flush packet");
  if (head.command === null) return refusalResponse("no command requested");
  return head.command.handle(async (accept) => {
    if (headEnd === "flush") return null;
    const end = await readLines(reader, accept);
    if (typeof end === "object") return end.refusal;
    if (end !== "flush") throw badFraming("the arguments do not end with a flush packet");
    return null;
  }, context);
}

/** The part of a request before the delimiter: the command and the client's capabilities, in any
 * order. */
class RequestHead {
  command: Command | null = null;

  accept(line: string): Refusal {
    if (line.startsWith("command=")) return this.#choose(line.slice("command=".length));
    if (line.startsWith("object-format=")) {
      const format = line.slice("object-format=".length);
      return format === OBJECT_FORMAT ? null : `mismatched object format: server ${OBJECT_FORMAT}; client ${format}`;
    }
    // The client's agent has no effect here, nor do server options: this server has none.
    return /^(?:agent|server-option)(?:=|$)/.test(line) ? null : `unknown capability '${line}'`;
  }

  #choose(name: string): Refusal {
    if (this.command !== null)
      return `command '${name}' requested after already requesting command '${this.command.name}'`;
    this.command = CAPABILITIES.find((one): one is Command => one.name === name && one.handle !== null) ?? null;
    return this.command === null ? `invalid command '${name}'` : null;
  }
}
