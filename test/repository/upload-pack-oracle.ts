import { git, makeRepository, tryGit } from "../harness/git.ts";
import { DELIM, encodePkt, FLUSH } from "../harness/raw.ts";

/** A fetch in the words of protocol v2, and what came of it. */
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

/** The ids of a pack's objects; it must stand without any other.
 * @throws Error with git's words when it is no whole pack */
export async function listPack(pack: Uint8Array): Promise<Set<string>> {
  const dir = await makeRepository("listed.git", "--bare");
  const { code, stdout, stderr } = await tryGit(dir, ["index-pack", "--stdin", "--fix-thin"], { stdin: pack });
  if (code !== 0) throw new Error(`git index-pack ended with ${code}: ${stderr}`);
  const name = stdout.trim().split("\t")[1]!;
  const listed = await git(dir, "verify-pack", "-v", `objects/pack/pack-${name}.idx`);
  return new Set([...listed.matchAll(/^([0-9a-f]{40}) (?:commit|tree|blob|tag) /gm)].map(([, oid]) => oid!));
}
