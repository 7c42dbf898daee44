import { decodeTexts, encodePkt, type RawResponse, request } from "./raw.ts";
import { tryGit } from "./git.ts";

/** The packets of a request: lines get their newline; `flush`, `delim` and `end` name special
 * packets. */
export function encodeRequest(...lines: readonly string[]): Buffer {
  const special: Record<string, string> = { flush: "0000", delim: "0001", end: "0002" };
  return Buffer.concat(lines.map((line) => (line in special ? Buffer.from(special[line]!) : encodePkt(`${line}\n`))));
}

/** A server's response: its packets before the pack as unchanged text, and whether there is a
 * pack. */
export interface Answer {
  readonly lines: string[];
  readonly pack: boolean;
}

/** Parses a response to a fetch, of any protocol version. */
export function readAnswer(body: Buffer): Answer {
  const bare = body.indexOf("PACK");
  const isBare =
    bare >= 4 && body.toString("latin1", bare - 4, bare).match(/^[0-9a-f]{4}$/) === null && body[bare - 1] === 10;
  const lines = decodeTexts(isBare ? body.subarray(0, bare) : body);
  const start = lines.findIndex((line) => line.charCodeAt(0) <= 3);
  return { lines: start < 0 ? lines : lines.slice(0, start), pack: isBare || start >= 0 };
}

/** Git's own response to a request. */
export async function askGit(dir: string, body: Uint8Array, version: 0 | 2): Promise<Answer> {
  const { stdoutBytes } = await tryGit(dir, ["upload-pack", "--stateless-rpc", "."], {
    stdin: body,
    env: version === 2 ? { GIT_PROTOCOL: "version=2" } : {},
  });
  return readAnswer(stdoutBytes);
}

/** Sends a request for git-upload-pack.
 * @param url of the repository */
export function post(
  { url }: { readonly url: string },
  body: Uint8Array,
  version: 0 | 1 | 2,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawResponse> {
  return request(`${url}/git-upload-pack`, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/x-git-upload-pack-request",
      ...(version === 0 ? {} : { "git-protocol": `version=${version}` }),
      ...headers,
    },
  });
}
