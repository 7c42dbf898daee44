import { GitError } from "../../base/format/errors.ts";
import type { Limits } from "../../base/format/configured-limits.ts";
import { checkLimit } from "../../base/format/limits.ts";
import {
  fromHex,
  isHexOid,
  isNullOid,
  NULL_OID,
  NULL_OID_HEX,
  OBJECT_FORMAT,
  OID_HEX_LENGTH,
} from "../../base/format/oid.ts";
import { type ByteReader, pktText } from "../../base/format/pkt-line.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import type { RefCommand } from "../../contract/push.ts";
import { LINES_PER_STEP } from "../../base/http/packet-text.ts";

/** The capabilities that the client chose. Those that were not offered are ignored, as git does. */
interface PushCapabilities {
  /** `report-status` or `report-status-v2`: without a proc-receive hook, their reports are the
   * same. */
  readonly reportStatus: boolean;
  readonly sideBand: boolean;
  readonly quiet: boolean;
  readonly atomic: boolean;
  readonly pushOptions: boolean;
  /** Byte string. */
  readonly agent: string | null;
}

/** What a push says before its pack. */
export interface PushHead {
  readonly capabilities: PushCapabilities;
  /** At least one; names as received. */
  readonly commands: readonly RefCommand[];
  readonly shallow: readonly Uint8Array[];
  /** Byte strings. */
  readonly pushOptions: readonly string[];
}

/** Where a command's new oid and its name begin. */
const NEW_OID_AT = OID_HEX_LENGTH + 1;
const NAME_AT = 2 * NEW_OID_AT;

/** Reads a push up to its pack.
 * @returns null for a request of one flush packet, with which git tests whether it may push
 * @throws GitError "bad-request" on anything that is not a push, "too-large" above `limits`; and
 * errors of reading the body
 * @see gitprotocol-pack(5) "Reference Update Request and Packfile Transfer" */
export async function readPushHead(body: ByteReader, limits: Limits): Promise<PushHead | null> {
  const commands: RefCommand[] = [];
  const shallow: Uint8Array[] = [];
  let capabilities: PushCapabilities | null = null;
  for await (const line of readSection(body, limits, "commands")) {
    if (line.startsWith("shallow ")) {
      shallow.push(parseShallow(line));
      continue;
    }
    // Capabilities follow the first command. Any other NUL is part of a name, which is then
    // refused.
    const nul = capabilities === null ? line.indexOf("\0") : -1;
    const command = nul < 0 ? line : line.slice(0, nul);
    if (command === "push-cert") throw malformed("a push certificate was not asked for");
    capabilities ??= parseCapabilities(nul < 0 ? "" : line.slice(nul + 1));
    commands.push(parseCommand(command));
    checkLimit("the number of refs in one push", limits.maxRefsPerPush, commands.length);
  }
  if (capabilities === null) {
    if (shallow.length > 0 || (await body.read()) !== null) throw malformed("there is no command");
    return null;
  }
  const pushOptions: string[] = [];
  if (capabilities.pushOptions) {
    for await (const line of readSection(body, limits, "push options")) pushOptions.push(line);
  }
  return { capabilities, commands, shallow, pushOptions };
}

/** Whether a command deletes its ref. */
export function isDeletion(command: RefCommand): boolean {
  return isNullOid(command.new);
}

/** What can be done about too many commands. */
const TOO_MANY = "push fewer refs at once";

/** Yields lines up to a flush packet, without their LF. */
async function* readSection(body: ByteReader, limits: Limits, what: string): AsyncGenerator<string, void, void> {
  const slice = new TimeSlice();
  for (let lines = 1; ; lines++) {
    if (lines % LINES_PER_STEP === 0) await slice.pause();
    const pkt = await body.readPkt();
    if (pkt?.type === "flush") return;
    if (pkt?.type !== "data")
      throw malformed(`the ${what} do not end in a flush packet but in ${pkt?.type ?? "nothing"}`);
    checkLimit("what precedes the pack (bytes)", limits.maxCommandBytes, body.consumedBytes, TOO_MANY);
    yield pktText(pkt.payload);
  }
}

function parseCommand(line: string): RefCommand {
  const separated = line[NEW_OID_AT - 1] === " " && line[NAME_AT - 1] === " ";
  const oldHex = line.slice(0, OID_HEX_LENGTH);
  const newHex = line.slice(NEW_OID_AT, NEW_OID_AT + OID_HEX_LENGTH);
  if (!separated || !isHexOid(oldHex) || !isHexOid(newHex)) {
    throw malformed(`expected old, new and ref, got ${JSON.stringify(line.slice(0, NAME_AT))}`);
  }
  return { old: parseOid(oldHex), new: parseOid(newHex), name: line.slice(NAME_AT) };
}

function parseShallow(line: string): Uint8Array {
  const hex = line.slice("shallow ".length);
  if (!isHexOid(hex)) throw malformed(`expected a shallow commit, got ${JSON.stringify(hex.slice(0, NAME_AT))}`);
  return fromHex(hex);
}

/** Most commands create or delete a ref: they share one null oid. */
function parseOid(hex: string): Uint8Array {
  return hex === NULL_OID_HEX ? NULL_OID : fromHex(hex);
}

function parseCapabilities(text: string): PushCapabilities {
  const offers = text.split(" ");
  const has = (name: string): boolean => offers.includes(name);
  const valueOf = (name: string): string | undefined =>
    offers.find((offer) => offer.startsWith(`${name}=`))?.slice(name.length + 1);
  const format = valueOf("object-format") ?? OBJECT_FORMAT;
  if (format !== OBJECT_FORMAT) throw malformed(`object format '${format}' is not the repository's '${OBJECT_FORMAT}'`);
  return {
    reportStatus: has("report-status") || has("report-status-v2"),
    sideBand: has("side-band-64k"),
    quiet: has("quiet"),
    atomic: has("atomic"),
    pushOptions: has("push-options"),
    agent: valueOf("agent") ?? null,
  };
}

function malformed(reason: string): GitError {
  return new GitError("bad-request", { reason });
}
