import type { Requester } from "../access/caller.ts";
import { encodeText, fromByteString } from "../format/byte-string.ts";
import { GitError } from "../format/errors.ts";
import type { Limits } from "../format/limits.ts";
import { NULL_OID_HEX, OBJECT_FORMAT, OID_BYTES, toHex } from "../format/oid.ts";
import { isPushableRefName } from "../format/ref-name.ts";
import { encodeSideBand, ERROR_BAND } from "../format/side-band.ts";
import type { PackSource, PushResult, PushTarget, RefCommand } from "../repository/state/push.ts";
import { whenFull } from "../store/chunks/full-storage.ts";
import { AGENT } from "./agent.ts";
import { errorResponse, errorText } from "./error-response.ts";
import { PacketText } from "./packet-text.ts";
import { movedNotice } from "./moved.ts";
import { PushChannel } from "./push-channel.ts";
import { isDeletion, type PushHead, readPushHead } from "./receive-pack-request.ts";
import { encodeReport } from "./report-status.ts";
import { openRequestBody, type RequestBody } from "./request-body.ts";
import { advertisementResponse, protocolVersion, refuseRpc, resultResponse } from "./smart-http.ts";

const SERVICE = "git-receive-pack";

/** What the server offers; `readPushHead` reads what the client takes of it. @see gitprotocol-capabilities(5) */
const CAPABILITIES =
  "report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options " +
  `object-format=${OBJECT_FORMAT} agent=${AGENT}`;

/** Pack bytes after which the response may begin, though more are to come: a client slower than this gets a status instead. */
const BEGIN_AFTER_BYTES = 256 * 1024;

/** Answers `GET …/info/refs?service=git-receive-pack`. There is no version 2 of this service.
 * @param createsOnPush whether a repository that does not exist yet looks like one without refs
 * @throws GitError "not-found" where it does not
 * @see gitprotocol-http(5) */
export async function advertiseReceivePack(
  request: Request,
  { source }: { readonly source: Pick<PushTarget, "refs"> },
  createsOnPush: boolean,
): Promise<Response> {
  const refs = await source.refs([]);
  if (refs === null && !createsOnPush) throw noCreation();
  const packets = new PacketText().line(`# service=${SERVICE}`).flush();
  if (protocolVersion(request) === 1) packets.line("version 1");
  const names = refs?.names ?? [];
  if (names.length === 0) packets.line(`${NULL_OID_HEX} capabilities^{}\0${CAPABILITIES}`);
  names.forEach((name, i) => {
    packets.line(`${toHex(refs!.oids, i * OID_BYTES)} ${name}${i === 0 ? `\0${CAPABILITIES}` : ""}`);
  });
  return advertisementResponse(SERVICE, packets.flush().toBytes());
}

/** Why a push to a name that nothing has is refused, where pushes create nothing. */
export function noCreation(): GitError {
  const reason = "a push creates none here: POST /api/repos does, with its owner and name";
  return new GitError("not-found", { what: "repository", reason });
}

/** Where a push goes, as its sender is told. */
export interface PushPlace {
  /** Owner and name as they are now, such as `me/diary`. */
  readonly name: string;
  /** The URL, where the push came by a name that the repository had before; else null. */
  readonly movedTo: string | null;
}

/** Answers `POST …/git-receive-pack`. A malformed request is refused with a status before the repository hears of it; whatever
 * is wrong with the pack or a ref is reported per command. @see gitprotocol-pack(5) "Pushing Data To a Server" */
export async function receivePack(
  request: Request,
  target: PushTarget,
  limits: Limits,
  requester: Requester,
  place: PushPlace,
): Promise<Response> {
  const refusal = refuseRpc(request, SERVICE);
  if (refusal !== null) return refusal;
  let push: Push;
  try {
    const body = openRequestBody(request, limits.maxCommandBytes + limits.maxPackSizeBytes);
    const head = await readPushHead(body, limits);
    if (head === null) return resultResponse(SERVICE, new Uint8Array(0));
    push = new Push(head, body, target, requester, place);
  } catch (error) {
    return errorResponse(error);
  }
  return push.answer();
}

/** One push whose commands have been read. */
class Push {
  readonly #head: PushHead;
  readonly #pack: BodyPack;
  readonly #target: PushTarget;
  readonly #requester: Requester;
  readonly #place: PushPlace;
  /** Null when the client takes no side-band. */
  readonly #channel: PushChannel | null;

  constructor(head: PushHead, body: RequestBody, target: PushTarget, requester: Requester, place: PushPlace) {
    this.#head = head;
    this.#channel = head.capabilities.sideBand ? new PushChannel(head.capabilities.quiet) : null;
    this.#pack = new BodyPack(body, this.#channel);
    this.#target = target;
    this.#requester = requester;
    this.#place = place;
  }

  /** Carries the push out.
   * @returns its response, which may have begun while the push goes on */
  async answer(): Promise<Response> {
    const ended = this.#carryOut();
    return this.#channel === null ? ended : Promise.race([this.#channel.begun, ended]);
  }

  async #carryOut(): Promise<Response> {
    let result: PushResult;
    try {
      result = await this.#apply();
    } catch (error) {
      // Too late for a status when the response has begun: then the report says it.
      // What is full is told by a report as well: of an answer with a status of its own, git shows its user nothing but that.
      if (this.#channel?.hasBegun !== true && whenFull(error) === null) {
        this.#channel?.close();
        return errorResponse(error);
      }
      result = refuseAll(this.#head.commands, errorText(error));
    }
    const report = this.#head.capabilities.reportStatus ? encodeReport(result) : new Uint8Array(0);
    this.#channel?.report(report);
    // The rest of a refused pack: clients send to the end before they listen, and no body can be read after its response.
    await this.#pack.drain();
    this.#channel?.close();
    return this.#channel?.begun ?? resultResponse(SERVICE, report);
  }

  /** Refuses what cannot be a ref, and has the repository settle the rest. */
  async #apply(): Promise<PushResult> {
    const { commands, shallow, pushOptions, capabilities } = this.#head;
    const { atomic, agent } = capabilities;
    const refusals = refuseNames(commands);
    const accepted = commands.filter((_, i) => refusals[i] === null);
    if (accepted.length === 0 || (atomic && accepted.length < commands.length)) {
      // Nothing of the pack would stay: it is not looked at.
      return {
        unpack: "ok",
        refs: commands.map(({ name }, i) => ({ name, error: refusals[i] ?? "atomic push failure" })),
      };
    }
    const result = await this.#target.receive({
      commands: accepted,
      atomic,
      pushOptions,
      shallow,
      pack: accepted.every(isDeletion) ? null : this.#pack,
      agent,
      requester: this.#requester,
      progress: (title, done, total) => this.#channel?.progress(title, done, total),
    });
    // A body that could not be read on is the request's failure, whatever the repository made of it.
    if (this.#pack.failure !== null) throw this.#pack.failure;
    const { name, movedTo } = this.#place;
    if (result.hasCreated) this.#channel?.tell(`Created ${name}`);
    if (movedTo !== null) this.#channel?.tell(movedNotice({ name, url: movedTo }));
    const outcomes = result.refs.values();
    return {
      unpack: result.unpack,
      refs: commands.map(({ name }, i) =>
        refusals[i] === null ? outcomes.next().value! : { name, error: refusals[i]! },
      ),
    };
  }
}

/** Answers a push that its repository could not even refuse, as its object has ended. Storage that is full ends an object which is about to
 * commit: this tells it on the band for errors, which git shows, and which is there for whoever asked for side-band, as all gits do. */
export function pushErrorResponse(error: unknown): Response {
  if (whenFull(error) === null) return errorResponse(error);
  const lines = encodeSideBand(ERROR_BAND, fromByteString(encodeText(`${errorText(error)}\n`)));
  return resultResponse(SERVICE, Buffer.concat([...lines]));
}

/** The pack in a request's body. */
class BodyPack implements PackSource {
  readonly #body: RequestBody;
  readonly #channel: PushChannel | null;
  #readBytes = 0;
  /** Why the body could not be read on. */
  failure: Error | null = null;

  constructor(body: RequestBody, channel: PushChannel | null) {
    this.#body = body;
    this.#channel = channel;
  }

  demandPace(minBytes: () => number): void {
    this.#body.minBytes = minBytes;
  }

  async read(minimumBytes: number): Promise<Uint8Array | null> {
    const pieces: Uint8Array[] = [];
    for (let bytes = 0; bytes < minimumBytes;) {
      const piece = await this.#readPiece();
      if (piece === null) break;
      pieces.push(piece);
      bytes += piece.length;
    }
    return pieces.length > 1 ? Buffer.concat(pieces) : (pieces[0] ?? null);
  }

  /** Reads and drops what is left; a body that breaks here breaks nothing. */
  async drain(): Promise<void> {
    try {
      while (this.failure === null && (await this.#readPiece()) !== null);
    } catch {
      // `failure` holds it.
    }
  }

  async #readPiece(): Promise<Uint8Array | null> {
    try {
      const piece = await this.#body.read();
      this.#readBytes += piece?.length ?? 0;
      if (piece === null) this.#channel?.keepAlive();
      else if (this.#readBytes > BEGIN_AFTER_BYTES) this.#channel?.allowBegin();
      return piece;
    } catch (error) {
      this.failure = error as Error;
      throw error;
    }
  }
}

/** Why each command may not even be tried, in git's words; null: it may. */
function refuseNames(commands: readonly RefCommand[]): (string | null)[] {
  const uses = new Map<string, number>();
  for (const { name } of commands) uses.set(name, (uses.get(name) ?? 0) + 1);
  return commands.map((command) => {
    if (!isPushableRefName(command.name, isDeletion(command))) return "funny refname";
    return uses.get(command.name) === 1 ? null : `multiple updates for ref '${command.name}' not allowed`;
  });
}

function refuseAll(commands: readonly RefCommand[], unpack: string): PushResult {
  return { unpack, refs: commands.map(({ name }) => ({ name, error: "unpacker error" })) };
}
