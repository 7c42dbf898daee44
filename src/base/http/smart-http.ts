import project from "../../../package.json" with { type: "json" };
import { NO_CACHE, textResponse } from "./error-response.ts";

type Service = "git-upload-pack" | "git-receive-pack";

/** The service that takes a push. */
export const RECEIVE_PACK = "git-receive-pack" satisfies Service;

/** Versions of the wire protocol. @see gitprotocol-v2(5) */
type ProtocolVersion = 0 | 1 | 2;

/** Reads the service from `GET …/info/refs?service=…`.
 * @returns null for anything else, including the dumb protocol: such a request is answered 403 */
export function parseService(url: URL): Service | null {
  const name = url.searchParams.get("service");
  return name === "git-upload-pack" || name === "git-receive-pack" ? name : null;
}

/** Refuses an unknown service, and the dumb protocol. */
export function unknownServiceResponse(): Response {
  return textResponse(403, "unsupported service: this server speaks git's smart HTTP protocol only");
}

/** Chooses the highest protocol version that the `Git-Protocol` header offers; unknown ones are
 * ignored. */
export function protocolVersion(request: Request): ProtocolVersion {
  let version: ProtocolVersion = 0;
  for (const offer of request.headers.get("Git-Protocol")?.split(":") ?? []) {
    if (offer === "version=2") version = 2;
    else if (offer === "version=1" && version === 0) version = 1;
  }
  return version;
}

/** Checks the method and content type, which all RPCs of the smart protocol share.
 * @returns the refusal (405 or 415), or null when the request may proceed */
export function refuseRpc(request: Request, service: Service): Response | null {
  if (request.method !== "POST") return textResponse(405, "this is an RPC: use POST", { Allow: "POST" });
  const expected = `application/x-${service}-request`;
  // Requires the exact type that git sends; git's own server accepts nothing else.
  if (request.headers.get("Content-Type") !== expected) return textResponse(415, `expected content type ${expected}`);
  return null;
}

/** A successful response to an RPC. */
export function resultResponse(service: Service, body: BodyInit, headers: Record<string, string> = {}): Response {
  return new Response(body, {
    headers: { "Content-Type": `application/x-${service}-result`, ...NO_CACHE, ...headers },
  });
}

/** A successful response to `info/refs`. */
export function advertisementResponse(service: Service, body: BodyInit): Response {
  return new Response(body, { headers: { "Content-Type": `application/x-${service}-advertisement`, ...NO_CACHE } });
}

/** The server's name and version in the `agent` capability. */
export const AGENT = `holdfast/${project.version}`;
