import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { checkLimit, MAX_REFS_PER_PUSH } from "../../base/format/limits.ts";
import { isHexOid, OBJECT_FORMAT } from "../../base/format/oid.ts";
import { encodePkt, FLUSH_PKT } from "../../base/format/pkt-line.ts";
import { isPushableRefName } from "../../base/format/ref-name.ts";
import { failed, type GitServer, type RemoteAnswer } from "./git-server.ts";
import { checkFormat, readFirstLine, readLine, readV0 } from "./ref-lines.ts";

/** "0001": the arguments follow. */
export const DELIM_PKT: Uint8Array = Buffer.from("0001");

/** Refs and capabilities of an upstream. */
export interface Advertisement {
  readonly isV2: boolean;
  /** Words of protocol version 0. */
  readonly capabilities: ReadonlySet<string>;
  /** Ids in hex by full name, byte strings; only the wanted ones. */
  readonly refs: ReadonlyMap<string, string>;
  /** The ref that HEAD names; null: unknown. */
  readonly head: string | null;
}

/** Reads the refs of an upstream, by protocol version 2, or by version 0 if it supports no other.
 * @param prefixes of the wanted refs
 * @throws GitError "unsupported", "unavailable", "too-large", "bad-ref-name", and as `GitServer` */
export async function listRefs(upstream: GitServer, prefixes: readonly string[]): Promise<Advertisement> {
  const answer = await upstream.discover(true);
  const refs = new WantedRefs(prefixes);
  try {
    const first = await readFirstLine(answer);
    if (first !== "version 2") {
      const capabilities = await readV0(answer, first, (oid, name) => refs.add(oid, name));
      const symref = [...capabilities].find((word) => word.startsWith("symref=HEAD:"));
      return { isV2: false, capabilities, refs: refs.found, head: symref?.slice("symref=HEAD:".length) ?? null };
    }
    checkFormat(await readLines(answer));
  } finally {
    await answer.cancel();
  }
  const head = await readV2(upstream, prefixes, refs);
  return { isV2: true, capabilities: new Set(), refs: refs.found, head };
}

/** Collects the wanted refs as they arrive. */
class WantedRefs {
  readonly found = new Map<string, string>();
  readonly #prefixes: readonly string[];

  constructor(prefixes: readonly string[]) {
    this.#prefixes = prefixes;
  }

  add(oid: string, name: string): void {
    if (!this.#prefixes.some((prefix) => name.startsWith(prefix)) || name.endsWith("^{}")) return;
    if (!isPushableRefName(name, false)) throw new GitError("bad-ref-name", { name: decodeText(name) });
    this.found.set(name, oid);
    checkLimit("the number of the upstream's refs", MAX_REFS_PER_PUSH, this.found.size, "choose some by `refs`");
  }
}

/** @returns the ref that HEAD names; null: unknown */
async function readV2(upstream: GitServer, prefixes: readonly string[], refs: WantedRefs): Promise<string | null> {
  const request = Buffer.concat([
    ...["command=ls-refs\n", `object-format=${OBJECT_FORMAT}`].map(encodePkt),
    DELIM_PKT,
    ...["symrefs\n", "ref-prefix HEAD\n", ...prefixes.map((prefix) => `ref-prefix ${prefix}\n`)].map(encodePkt),
    FLUSH_PKT,
  ]);
  const answer = await upstream.ask(request, true);
  let head: string | null = null;
  try {
    for (let line = await readLine(answer); line !== null; line = await readLine(answer)) {
      const [oid = "", name = "", ...attributes] = line.split(" ");
      if (!isHexOid(oid)) throw failed("upstream", "a line of its refs has no id");
      const target = attributes.find((word) => word.startsWith("symref-target:"));
      if (name === "HEAD") head = target?.slice("symref-target:".length) ?? null;
      refs.add(oid, name);
    }
  } finally {
    await answer.cancel();
  }
  return head;
}

/** Reads lines up to the next packet without content. */
async function readLines(answer: RemoteAnswer): Promise<string[]> {
  const lines: string[] = [];
  for (let line = await readLine(answer); line !== null; line = await readLine(answer)) lines.push(line);
  return lines;
}
