/** Valid packs of every kind: by git, and made here where git would not write them. */
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import {
  assemblePack,
  copy,
  encodeDelta,
  insert,
  makeCommit,
  makeObject,
  type MadeObject,
  makeTag,
  makeTree,
  ofsDelta,
  packOf,
  PERSON,
  refDelta,
} from "../../harness/pack-builder.ts";
import { encodeEntry } from "../../harness/raw.ts";
import { Random } from "../../harness/random.ts";

/** A pack, and the objects that its repository must hold beforehand. */
export interface SamplePack {
  readonly name: string;
  readonly pack: Buffer;
  readonly stored: readonly MadeObject[];
  /** Whether feeding it byte by byte is fast. */
  readonly isSmall: boolean;
}

const MIB = 1024 * 1024;

export async function makeSamplePacks(): Promise<SamplePack[]> {
  const samples: SamplePack[] = [];
  const add = (name: string, pack: Buffer, stored: readonly MadeObject[] = []): void => {
    samples.push({ name, pack, stored, isSmall: pack.length < 40_000 && !name.includes("KiB") });
  };
  for (const [name, made] of Object.entries(await packHistory())) add(name, made.pack, made.stored);
  for (const [name, pack] of Object.entries(packByHand())) add(name, pack);
  const base = makeObject("blob", "a base that only the repository holds\n".repeat(20));
  const thin = [append(base, "one"), append(base, "two")];
  add("a thin pack by hand", assemblePack(thin.map(({ delta }) => encodeEntry(refDelta(base.oid, delta)))), [base]);
  return samples;
}

/** Git's packs of a real history, complete and thin. */
async function packHistory(): Promise<Record<string, { pack: Buffer; stored: MadeObject[] }>> {
  const dir = await makeHistory({ commits: 90, files: 24, branches: 3, merges: 2, tags: 4 });
  const pack = async (revs: string, ...options: string[]): Promise<Buffer> => {
    const packed = await tryGit(dir, ["pack-objects", "-q", "--revs", "--stdout", ...options], { stdin: revs });
    if (packed.code !== 0) throw new Error(packed.stderr);
    return packed.stdoutBytes;
  };
  const thin = "main\n^main~40\n";
  const stored = await readObjects(dir, "main~40");
  return {
    "a history with OFS deltas": { pack: await pack("", "--all", "--delta-base-offset"), stored: [] },
    "a history with REF deltas": { pack: await pack("", "--all"), stored: [] },
    "a thin pack with OFS deltas": { pack: await pack(thin, "--thin", "--delta-base-offset"), stored },
    "a thin pack with REF deltas": { pack: await pack(thin, "--thin"), stored },
  };
}

/** Every object that a revision reaches. */
async function readObjects(dir: string, revision: string): Promise<MadeObject[]> {
  const listed = await git(dir, "rev-list", "--objects", "--no-object-names", revision);
  const { stdoutBytes } = await tryGit(dir, ["cat-file", "--batch"], { stdin: `${listed}\n` });
  const objects: MadeObject[] = [];
  for (let at = 0; at < stdoutBytes.length;) {
    const end = stdoutBytes.indexOf(10, at);
    const [oid, type, size] = stdoutBytes.toString("latin1", at, end).split(" ") as [
      string,
      MadeObject["type"],
      string,
    ];
    objects.push({ oid, type, content: stdoutBytes.subarray(end + 1, end + 1 + Number(size)) });
    at = end + 2 + Number(size);
  }
  return objects;
}

/** The object `base` with a text appended, and the delta that makes it. */
export function append(base: MadeObject, text: string | Uint8Array): { object: MadeObject; delta: Buffer } {
  const added = Buffer.from(text as string);
  const content = Buffer.concat([base.content, added]);
  const copies: Buffer[] = [];
  for (let at = 0; at < base.content.length; at += 0xffffff) {
    copies.push(copy(at, Math.min(0xffffff, base.content.length - at)));
  }
  return {
    object: makeObject(base.type, content),
    delta: encodeDelta(base.content.length, content.length, ...copies, insert(added)),
  };
}

/** Deltas that are each based on the previous one: entries in the order of the chain, the root
 * first. */
export function makeChain(length: number, kind: "ofs" | "ref", root = makeObject("blob", "root\n")): Buffer[] {
  const entries = [encodeEntry(root)];
  for (let i = 0, object = root; i < length; i++) {
    // Each replaces the last bytes, so that no object grows.
    const text = `${i}\n`.padStart(8, "0");
    const kept = Math.max(0, Math.min(object.content.length, root.content.length) - 8);
    const content = Buffer.concat([object.content.subarray(0, kept), Buffer.from(text)]);
    const delta = encodeDelta(
      object.content.length,
      content.length,
      ...(kept > 0 ? [copy(0, kept)] : []),
      insert(text),
    );
    entries.push(encodeEntry(kind === "ofs" ? ofsDelta(entries.at(-1)!.length, delta) : refDelta(object.oid, delta)));
    object = makeObject("blob", content);
  }
  return entries;
}

function packByHand(): Record<string, Buffer> {
  const random = new Random(5);
  const noise = (size: number): Buffer => Buffer.from(random.bytes(size));
  const empty = makeObject("blob", "");
  const blob = makeObject("blob", "hello\n");
  const tree = makeTree(["100644", "empty", empty], ["100644", "file", blob], ["160000", "module", "7".repeat(40)]);
  const commit = makeCommit(tree);
  const tag = makeTag(commit, "commit", "v1");
  const huge = makeTree(
    ...Array.from({ length: 40_000 }, (_, i) => ["100644", `file-${String(i).padStart(6, "0")}`, blob] as const),
  );
  const long = makeCommit(huge, [commit.oid], `${"A long story.\n".repeat(90_000)}`);
  const large = makeObject("blob", noise(3 * MIB));
  const onLarge = append(large, "and more");
  const text = makeObject("blob", "shared line\n".repeat(400));
  const grown = append(text, "more");
  const again = append(grown.object, "again");
  const threshold = [-2, -1, 0, 1, 2].map((more) => makeObject("blob", Buffer.alloc(MIB + more, "compresses well ")));
  const noisy = makeObject("blob", noise(MIB - 1));
  const future = makeObject(
    "commit",
    `tree ${tree.oid}\nauthor ${PERSON}\ncommitter Ada <ada@example.com> 8000000000 +0000\n\n`,
  );
  const wide = makeObject("blob", noise(30_000));
  const many = Array.from({ length: 120 }, (_, i) => append(wide, `${i} `.repeat(20)));
  const referred = (base: MadeObject, { delta }: { delta: Buffer }): Buffer => encodeEntry(refDelta(base.oid, delta));
  return {
    "no object": packOf(),
    "one of each type": packOf(empty, blob, tree, commit, tag),
    "version 3": assemblePack(
      [commit, tree, blob, empty].map((object) => encodeEntry(object)),
      { version: 3 },
    ),
    "a time beyond 32 bits": packOf(blob, empty, tree, future),
    "a tree of 1.5 MB and a commit of 1.2 MB": packOf(empty, blob, tree, commit, huge, long),
    "blobs around 1024 KiB": packOf(...threshold, noisy),
    "a delta on a large blob": assemblePack(
      [large, onLarge.delta].map((made) =>
        "oid" in made ? encodeEntry(made) : encodeEntry(refDelta(large.oid, made)),
      ),
    ),
    "a delta before its large blob": assemblePack([referred(large, onLarge), encodeEntry(large)]),
    "REF deltas before their bases": assemblePack([
      referred(grown.object, again),
      referred(text, grown),
      encodeEntry(text),
    ]),
    "the same object twice": packOf(empty, blob, blob, tree, empty, commit, commit),
    "the same object whole and as a delta": assemblePack([
      referred(text, grown),
      encodeEntry(grown.object),
      referred(grown.object, again),
      encodeEntry(text),
      encodeEntry(again.object),
    ]),
    "120 deltas of 30 KB on one base": assemblePack([encodeEntry(wide), ...many.map((made) => referred(wide, made))]),
    "120 deltas of 30 KB before their base": assemblePack([
      ...many.map((made) => referred(wide, made)),
      encodeEntry(wide),
    ]),
    "a chain of 1,000 OFS deltas": assemblePack(makeChain(1_000, "ofs")),
    "a chain of 1,000 REF deltas": assemblePack(makeChain(1_000, "ref")),
    "a chain of 1,000 REF deltas, backwards": assemblePack(makeChain(1_000, "ref").reverse()),
    "a chain of 60 deltas on 20 KB, backwards": assemblePack(
      makeChain(60, "ref", makeObject("blob", noise(20_000))).reverse(),
    ),
  };
}

/** Stores objects in a new git repository. @returns its path */
export async function storeObjects(objects: readonly MadeObject[]): Promise<string> {
  const dir = await makeRepository("stored.git", "--bare");
  if (objects.length > 0) {
    const { code, stderr } = await tryGit(dir, ["index-pack", "--stdin"], { stdin: packOf(...objects) });
    if (code !== 0) throw new Error(stderr);
  }
  return dir;
}
