/** Git's index of a pack, for comparison. */
import assert from "node:assert/strict";
import { expect } from "vitest";
import { git, tryGit } from "../../harness/git.ts";
import { indexPack, TRAILER_BYTES } from "./indexed-pack.ts";
import { type SamplePack, storeObjects } from "./packs.ts";

/** Expects every entry of a pack to be what git says: id, type, size, offset and base. */
export async function expectAsGit(sample: SamplePack): Promise<void> {
  const [asked, indexed] = [await askGit(sample), indexPack(sample.pack, { stored: sample.stored })];
  expect(indexed.end, sample.name).toBe(sample.pack.length - TRAILER_BYTES);
  expect(indexed.entries.length, sample.name).toBe(sample.pack.readUInt32BE(8));
  if (asked === null) return;
  const offsets = new Map(asked.entries.map((entry) => [entry.offset, entry]));
  for (const { oid, type, sizeBytes, offset, base } of indexed.entries) {
    const { content, ...object }: GitObject = asked.objects.get(oid)!;
    assert.deepEqual({ type, sizeBytes }, object, sample.name);
    // For a pack that holds an object twice, verify-pack reports nothing.
    if (asked.entries.length > 0) assert.deepEqual(offsets.get(offset), { oid, offset, base }, sample.name);
    if (type === "blob") continue;
    assert.deepEqual(indexed.edges.get(oid), readEdges(type, content), sample.name);
  }
}

interface GitObject {
  readonly type: string;
  readonly sizeBytes: number;
  readonly content: Buffer;
}

/** Has git index a pack, and returns its results: type, size and content by id; offset and base of
 * each entry. Null when git is confused by an object that occurs twice. */
async function askGit({ name: sampleName, pack, stored }: SamplePack): Promise<{
  objects: Map<string, GitObject>;
  entries: { oid: string; offset: number; base: string | null }[];
} | null> {
  const dir = await storeObjects(stored);
  const indexed = await tryGit(dir, ["index-pack", "--stdin", "--fix-thin"], { stdin: pack });
  if (/duplicate base/.test(indexed.stderr)) return null;
  expect(indexed.stderr).toBe("");
  const { stdoutBytes } = await tryGit(dir, ["cat-file", "--batch", "--batch-all-objects"]);
  const objects = new Map<string, GitObject>();
  for (let at = 0; at < stdoutBytes.length;) {
    const end = stdoutBytes.indexOf(10, at);
    const [oid, type, size] = stdoutBytes.toString("latin1", at, end).split(" ") as [string, string, string];
    objects.set(oid, { type, sizeBytes: Number(size), content: stdoutBytes.subarray(end + 1, end + 1 + Number(size)) });
    at = end + 2 + Number(size);
  }
  const name = indexed.stdout.trim().split("\t").at(-1)!;
  const canShow = pack.readUInt32BE(8) > 0 && !sampleName.startsWith("the same object");
  const shown = !canShow ? "" : await git(dir, "verify-pack", "-v", `objects/pack/pack-${name}.idx`);
  const entries = shown
    .split("\n")
    .map((line) => /^([0-9a-f]{40}) +\w+ +\d+ \d+ (\d+)(?: \d+ ([0-9a-f]{40}))?$/.exec(line))
    .filter((match) => match !== null)
    .map(([, oid, offset, base]) => ({ oid: oid!, offset: Number(offset), base: base ?? null }))
    .filter(({ offset }) => offset < pack.length - TRAILER_BYTES)
    .sort((a, b) => a.offset - b.offset);
  return { objects, entries };
}

/** Ids that an object's content refers to, without submodules; a commit's time comes first. */
function readEdges(type: string, content: Buffer): (string | number)[] {
  const text = content.toString("latin1");
  if (type === "tag") return [text.slice(7, 47)];
  if (type === "commit") {
    const head = text.split("\n\n", 1)[0]!;
    const time = Number(/^committer .* (\d+) [+-]\d+$/m.exec(head)![1]);
    return [time, ...[...head.matchAll(/^(?:tree|parent) ([0-9a-f]{40})$/gm)].map((match) => match[1]!)];
  }
  const oids: string[] = [];
  for (let at = 0; at < content.length;) {
    const end = content.indexOf(0, at);
    if (!text.startsWith("160000", at)) oids.push(content.toString("hex", end + 1, end + 21));
    at = end + 21;
  }
  return oids;
}
