/** Git's own fsck on objects that are written directly into a repository. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { FSCK_MESSAGES } from "../../../src/base/codec/fsck-messages.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";
import { hashObject } from "../../harness/raw.ts";

/** An object to check, well-formed or not. */
export interface RawObject {
  readonly type: "commit" | "tree" | "blob" | "tag";
  readonly content: Uint8Array;
}

/** Git's findings for an object: message ids, or that it cannot parse it; then git reports nothing
 * else. */
export type Verdict = ReadonlySet<string> | "unparsable";

// Fatal ids cannot be demoted. And after an invalid oid, git's parser cannot continue correctly.
const STOPPING = ["nulInHeader", "unterminatedHeader", "badTreeSha1", "badParentSha1", "badObjectSha1"];
// Ids newer than the oldest git that runs these tests.
const YOUNG = ["largePathname"];

/** Options under which git reports every finding and continues, as the module does. */
const TELL_ALL = FSCK_MESSAGES.filter((id) => !STOPPING.includes(id) && !YOUNG.includes(id)).flatMap((id) => [
  "-c",
  `fsck.${id}=warn`,
]);

const FINDING = /^(?:error|warning) in \w+ ([0-9a-f]{40}): (\w+): /;
const UNPARSABLE = /^error: ([0-9a-f]{40}): object (?:corrupt or missing|could not be parsed)/;

/** Runs `git fsck` once over all objects.
 * @returns its findings for each, by oid, also for oids that are referred to and missing */
export async function fsckWithGit(objects: readonly RawObject[]): Promise<ReadonlyMap<string, Verdict>> {
  const dir = await makeRepository("fsck");
  const verdicts = new Map<string, Set<string> | "unparsable">();
  for (const { type, content } of objects) {
    const oid = hashObject(type, content);
    verdicts.set(oid, new Set());
    const folder = join(dir, ".git/objects", oid.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, oid.slice(2)),
      deflateSync(Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]), { level: 1 }),
    );
  }
  const { stderr } = await tryGit(dir, [...TELL_ALL, "fsck", "--strict", "--no-dangling", "--no-reflogs"]);
  for (const line of stderr.split("\n")) {
    const [, unparsable] = UNPARSABLE.exec(line) ?? [];
    if (unparsable !== undefined) verdicts.set(unparsable, "unparsable");
    const [, oid, id] = FINDING.exec(line) ?? [];
    if (oid === undefined || id === undefined) continue;
    const found = verdicts.get(oid) ?? new Set();
    if (found !== "unparsable") verdicts.set(oid, found.add(id));
  }
  return verdicts;
}

/** Runs `git mktag`, which applies git's fsck also to tags that `git fsck` cannot parse. */
export async function mktagWithGit(dir: string, content: Uint8Array): Promise<ReadonlySet<string>> {
  const { stderr } = await tryGit(dir, [...TELL_ALL, "mktag", "--no-strict"], { stdin: content });
  return new Set([...stderr.matchAll(/tag input does not pass fsck: (\w+): /g)].map(([, id]) => id ?? ""));
}
