import { encodeText, fromByteString } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { NULL_OID_HEX, OBJECT_FORMAT, OID_BYTES, toHex } from "../../base/format/oid.ts";
import { encodeSideBand, ERROR_BAND } from "../../base/format/side-band.ts";
import type { FetchSource } from "../../contract/fetch.ts";
import { whenFull } from "../../base/failures/known-failures.ts";
import {
  AGENT,
  advertisementResponse,
  protocolVersion,
  RECEIVE_PACK,
  resultResponse,
} from "../../base/http/smart-http.ts";
import { errorResponse, errorText } from "../../base/http/error-response.ts";
import { PacketText } from "../../base/http/packet-text.ts";

/** Capabilities that the server offers; `readPushHead` reads the client's choice.
 * @see gitprotocol-capabilities(5) */
const CAPABILITIES =
  "report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options " +
  `object-format=${OBJECT_FORMAT} agent=${AGENT}`;

/** Answers `GET …/info/refs?service=git-receive-pack`. This service has no version 2.
 * @param createsOnPush whether a missing repository is advertised as an empty one
 * @throws GitError "not-found" if it is missing and `createsOnPush` is false
 * @see gitprotocol-http(5) */
export async function advertiseReceivePack(
  request: Request,
  { source }: { readonly source: Pick<FetchSource, "refs"> },
  createsOnPush: boolean,
): Promise<Response> {
  const refs = await source.refs([]);
  if (refs === null && !createsOnPush) throw noCreation();
  const packets = new PacketText().line(`# service=${RECEIVE_PACK}`).flush();
  if (protocolVersion(request) === 1) packets.line("version 1");
  const names = refs?.names ?? [];
  if (names.length === 0) packets.line(`${NULL_OID_HEX} capabilities^{}\0${CAPABILITIES}`);
  names.forEach((name, i) => {
    packets.line(`${toHex(refs!.oids, i * OID_BYTES)} ${name}${i === 0 ? `\0${CAPABILITIES}` : ""}`);
  });
  return advertisementResponse(RECEIVE_PACK, packets.flush().toBytes());
}

/** The refusal of a push to an unknown name where pushes do not create repositories. */
export function noCreation(): GitError {
  const reason = "pushes do not create repositories here: create it with POST /api/repos first";
  return new GitError("not-found", { subject: "repository", reason });
}

/** Answers a push whose repository object ended before it could report. If the storage was full as
 * the object was about to commit, the error band says so: git shows that band, and every git
 * requests it. */
export function pushErrorResponse(error: unknown): Response {
  if (whenFull(error) === null) return errorResponse(error);
  const lines = encodeSideBand(ERROR_BAND, fromByteString(encodeText(`${errorText(error)}\n`)));
  return resultResponse(RECEIVE_PACK, Buffer.concat([...lines]));
}
