import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, tryGit } from "../harness/git.ts";
import { DELIM, encodePkt, FLUSH } from "../harness/raw.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** The result of a fetch, in the terms of protocol v2. */
export interface OracleAnswer {
  /** Lines of the section `shallow-info`, sorted. */
  readonly shallowInfo: string[];
  /** Ids of the objects in the pack. */
  readonly objects: Set<string>;
  /** The message of an ERR packet, null: none. */
  readonly error: string | null;
}

/** Asks git's own server side, without HTTP.
 * @param lines arguments of the command `fetch`
 * @see gitprotocol-v2(5) */
export async function askUploadPack(dir: string, lines: readonly string[]): Promise<OracleAnswer> {
  const settings = ["allowFilter=true", "allowAnySHA1InWant=true", "allowRefInWant=true"];
  const request = Buffer.concat([
    encodePkt("command=fetch"),
    encodePkt("object-format=sha1"),
    DELIM,
    ...lines.map((line) => encodePkt(`${line}\n`)),
    encodePkt("done\n"),
    FLUSH,
  ]);
  const { code, stdoutBytes, stderr } = await tryGit(
    dir,
    [...settings.flatMap((setting) => ["-c", `uploadpack.${setting}`]), "upload-pack", "--stateless-rpc", "."],
    { stdin: request, env: { GIT_PROTOCOL: "version=2" } },
  );
  return code === 0 ? readAnswer(stdoutBytes) : { shallowInfo: [], objects: new Set(), error: stderr };
}

async function readAnswer(body: Buffer): Promise<OracleAnswer> {
  const shallowInfo: string[] = [];
  const pack: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const length = Number.parseInt(body.toString("latin1", at, at + 4), 16);
    const payload = body.subarray(at + 4, at + Math.max(length, 4));
    at += Math.max(length, 4);
    const text = payload.toString("latin1");
    if (text.startsWith("ERR ")) return { shallowInfo, objects: new Set(), error: text.slice(4).trimEnd() };
    if (/^(?:un)?shallow /.test(text)) shallowInfo.push(text.trimEnd());
    else if (payload[0] === 1) pack.push(payload.subarray(1));
    else if (payload[0] === 3) return { shallowInfo, objects: new Set(), error: text.slice(1) };
  }
  return { shallowInfo: shallowInfo.toSorted(), objects: await listPack(Buffer.concat(pack)), error: null };
}

/** The ids of a pack's objects; the pack must not be thin.
 * @throws Error with git's words when the pack is incomplete
 * @see gitformat-pack(5), the index of version 2 */
export async function listPack(pack: Uint8Array): Promise<Set<string>> {
  const dir = makeTempDir("listed");
  writeFileSync(join(dir, "pack"), pack);
  await git(dir, "index-pack", "-o", "index", "pack");
  const index = readFileSync(join(dir, "index"));
  const ids = index.subarray(8 + 256 * 4, 8 + 256 * 4 + 20 * index.readUInt32BE(8 + 255 * 4)).toString("hex");
  return new Set(ids.match(/.{40}/g));
}
