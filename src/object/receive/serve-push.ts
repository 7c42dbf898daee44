import { type GitError, isGitError } from "../../base/format/errors.ts";
import {
  type RefOutcome,
  explainRefusal,
  type RefCommand,
  type PushResult,
  type RefRefusal,
  movedNotice,
} from "../../contract/push.ts";
import type { Requester } from "../../base/access/caller.ts";
import { isNullOid } from "../../base/format/oid.ts";
import { PacketText } from "../../base/http/packet-text.ts";
import type { Limits } from "../../base/format/configured-limits.ts";
import { isPushableRefName } from "../../base/format/ref-name.ts";
import { readPieces } from "../../base/format/read-pieces.ts";
import type { PackSource, PushTarget } from "../state/push.ts";
import { refuseUnpacked, refuseWhole } from "../state/ref-refusal.ts";
import { whenFull } from "../../base/failures/known-failures.ts";
import { errorResponse, errorText } from "../../base/http/error-response.ts";
import { PushChannel } from "./push-channel.ts";
import { asksForOutcome, outcomeResponse } from "../../contract/push-outcome.ts";
import { isDeletion, type PushHead, readPushHead } from "./receive-pack-request.ts";
import { openRequestBody, type RequestBody } from "../../base/http/request-body.ts";
import { RECEIVE_PACK, refuseRpc, resultResponse } from "../../base/http/smart-http.ts";
import type { PushPlace } from "../../contract/objects.ts";

/** Pack bytes after which the response may begin before the pack has ended. Until then a client
 * that is too slow gets an HTTP status. */
const BEGIN_AFTER_BYTES = 256 * 1024;

/** Answers `POST …/git-receive-pack`. A malformed request is refused with an HTTP status before it
 * reaches the repository; errors in the pack or in a ref are reported per command.
 * @see gitprotocol-pack(5) "Pushing Data To a Server" */
export async function receivePack(
  request: Request,
  target: PushTarget,
  limits: Limits,
  requester: Requester,
  place: PushPlace,
): Promise<Response> {
  const refusal = refuseRpc(request, RECEIVE_PACK);
  if (refusal !== null) return refusal;
  const givesOutcome = asksForOutcome(request);
  let push: Push;
  try {
    const body = openRequestBody(request, limits.maxCommandBytes + limits.maxPackSizeBytes);
    const head = await readPushHead(body, limits);
    if (head === null) return resultResponse(RECEIVE_PACK, new Uint8Array(0));
    const url = new URL(`/${place.name}.git`, request.url).href;
    push = new Push(head, body, target, requester, { ...place, url });
  } catch (error) {
    return givesOutcome ? failedOutcome(error) : errorResponse(error);
  }
  return givesOutcome ? push.answerOutcome() : push.answer();
}

/** One push whose commands have been read. */
class Push {
  readonly #head: PushHead;
  readonly #pack: BodyPack;
  readonly #target: PushTarget;
  readonly #requester: Requester;
  readonly #place: PushPlace & { readonly url: string };
  /** Null when the client takes no side-band. */
  readonly #channel: PushChannel | null;

  /** @param place with the repository's URL */
  constructor(
    head: PushHead,
    body: RequestBody,
    target: PushTarget,
    requester: Requester,
    place: PushPlace & { readonly url: string },
  ) {
    this.#head = head;
    this.#channel = head.capabilities.sideBand ? new PushChannel(head.capabilities.quiet) : null;
    this.#pack = new BodyPack(body, this.#channel);
    this.#target = target;
    this.#requester = requester;
    this.#place = place;
  }

  /** Carries out the push.
   * @returns its response, which may begin while the push continues */
  async answer(): Promise<Response> {
    const ended = this.#carryOut();
    return this.#channel === null ? ended : Promise.race([this.#channel.begun, ended]);
  }

  /** Carries the push out.
   * @returns how it ended, with values in place of a report */
  async answerOutcome(): Promise<Response> {
    try {
      return outcomeResponse(await this.#apply());
    } catch (error) {
      return failedOutcome(error);
    } finally {
      await this.#pack.drain();
    }
  }

  async #carryOut(): Promise<Response> {
    const { commands, capabilities } = this.#head;
    let unpack = "ok";
    let refs: readonly RefOutcome[] = refuseUnpacked(commands);
    try {
      const result = await this.#apply();
      unpack = result.unpack?.message ?? "ok";
      refs = result.refs;
    } catch (error) {
      // Once the response has begun, it is too late for a status, and the report carries the error.
      // Full storage goes into the report in any case: for an error status git shows its user
      // nothing but the status.
      if (this.#channel?.hasBegun !== true && whenFull(error) === null) {
        this.#channel?.close();
        return errorResponse(error);
      }
      unpack = errorText(error);
    }
    const report = capabilities.reportStatus ? encodeReport(unpack, refs) : new Uint8Array(0);
    this.#channel?.report(report);
    // Reads the rest of a refused pack: clients send all of it before they read, and no body can be
    // read after its response.
    await this.#pack.drain();
    this.#channel?.close();
    return this.#channel?.begun ?? resultResponse(RECEIVE_PACK, report);
  }

  /** Refuses invalid ref names and lets the repository apply the other commands. */
  async #apply(): Promise<PushResult> {
    const { commands, shallow, pushOptions, capabilities } = this.#head;
    const { atomic, agent } = capabilities;
    const named = refuseNames(commands);
    const refused = refuseWhole(named, atomic);
    // Nothing of the pack would be kept, so it is not read.
    if (refused !== null) return { unpack: null, refs: refused };
    const accepted = commands.filter((_, i) => named[i]!.refusal === null);
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
    // If the body could not be read to its end, the request has failed, whatever the repository
    // reports.
    if (this.#pack.failure !== null) throw this.#pack.failure;
    const { name, movedTo, url } = this.#place;
    if (result.hasCreated) this.#channel?.tell(`Created ${name}`);
    if (movedTo !== null) this.#channel?.tell(movedNotice({ name, url: movedTo }));
    for (const line of adviseLargePush(result.unpack, url, commands)) this.#channel?.tell(line);
    const outcomes = result.refs.values();
    return {
      unpack: result.unpack,
      refs: named.map((outcome) => (outcome.refusal === null ? outcomes.next().value! : outcome)),
    };
  }
}

/** The pack in a request's body. */
class BodyPack implements PackSource {
  readonly #body: RequestBody;
  readonly #channel: PushChannel | null;
  #readBytes = 0;
  /** Why the body could not be read to its end. */
  failure: Error | null = null;

  constructor(body: RequestBody, channel: PushChannel | null) {
    this.#body = body;
    this.#channel = channel;
  }

  demandPace(minBytes: () => number): void {
    this.#body.minBytes = minBytes;
  }

  read(minimumBytes: number): Promise<Uint8Array | null> {
    return readPieces(() => this.#readPiece(), minimumBytes);
  }

  /** Reads and drops the rest; errors are ignored. */
  async drain(): Promise<void> {
    try {
      while (this.failure === null && (await this.#readPiece()) !== null);
    } catch {
      // Kept in `failure`.
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

/** Refuses the commands that are not even tried. */
function refuseNames(commands: readonly RefCommand[]): RefOutcome[] {
  const uses = new Map<string, number>();
  for (const { name } of commands) uses.set(name, (uses.get(name) ?? 0) + 1);
  const refuse = (command: RefCommand): RefRefusal | null => {
    const { name } = command;
    if (!isPushableRefName(name, isDeletion(command))) return { kind: "bad-name" };
    return uses.get(name) === 1 ? null : { kind: "repeated", name };
  };
  return commands.map((command) => ({ name: command.name, refusal: refuse(command) }));
}

function failedOutcome(thrown: unknown): Response {
  const error = whenFull(thrown) ?? thrown;
  return isGitError(error) ? outcomeResponse(error) : errorResponse(error);
}

/** Refs up to which the advice names them. */
const MAX_NAMED_REFS = 3;

/** Names that no shell reads as anything else. */
const PLAIN_NAME = /^[\w][\w./-]*$/;

/** What the user of a push is shown that is refused because all of it is too large for one request:
 * the way out, in lines without a line feed.
 * @param url of the repository
 * @returns nothing for any other error */
function adviseLargePush(error: GitError | null, url: string, commands: readonly RefCommand[]): string[] {
  if (!isGitError(error, "too-large") || error.data.limitKind !== "pack") return [];
  return [
    "This push is too large for one request. It can come in steps, which go on after a cut:",
    `    curl -fo ~/git-remote-holdfast ${new URL(url).origin}/-/git-remote-holdfast && chmod +x ~/git-remote-holdfast`,
    `    PATH=~:$PATH git push holdfast::${url} ${nameRefs(commands)}`,
  ];
}

function nameRefs(commands: readonly RefCommand[]): string {
  const specs = commands.map((command) => {
    const name = command.name.replace(/^refs\/(heads|tags)\//, "");
    if (!PLAIN_NAME.test(name)) return null;
    return isNullOid(command.new) ? `:${name}` : name;
  });
  return specs.length > MAX_NAMED_REFS || specs.includes(null) ? "<refs>" : specs.join(" ");
}

/** Byte limit for a reported reason: with the longest ref name, the line still fits into a
 * packet. */
const MAX_REASON_BYTES = 1_000;

/** Encodes the result of a push for the capabilities `report-status` and `report-status-v2`.
 * @param unpack "ok", or why the pack was refused
 * @see gitprotocol-pack(5) "Report Status" */
export function encodeReport(unpack: string, refs: readonly RefOutcome[]): Uint8Array {
  const report = new PacketText().line(`unpack ${oneLine(unpack)}`);
  for (const { name, refusal } of refs)
    report.line(refusal === null ? `ok ${name}` : `ng ${name} ${oneLine(explainRefusal(refusal))}`);
  return report.flush().toBytes();
}

/** A reason as one line of plain text: names from objects may contain any bytes. */
function oneLine(reason: string): string {
  return reason.replaceAll(/[^ -~]/g, "?").slice(0, MAX_REASON_BYTES);
}
