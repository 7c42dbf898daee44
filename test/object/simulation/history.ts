/** All objects ever made in a run, by id: clones are compared with them, and new commits are made
 * from them. */
import { deflateSync } from "node:zlib";
import {
  assemblePack,
  copy,
  encodeDelta,
  insert,
  insertAll,
  type MadeObject,
  makeObject,
  makeTree,
  PERSON,
  refDelta,
} from "../../harness/pack-builder.ts";
import type { Random } from "../../harness/random.ts";
import { encodeEntry } from "../../harness/raw.ts";

/** Blobs by path. */
export type Files = ReadonlyMap<string, string>;

/** A commit with its new objects. */
export interface NewCommit {
  readonly oid: string;
  readonly objects: readonly MadeObject[];
}

/** Incompressible blobs, so large that a push of them is written to the bucket, or nearly so. */
const NOISE: MadeObject[] = [];

/** Encoded entries: the same objects go into many packs. */
const ENTRIES = new WeakMap<MadeObject, Buffer>();

/** An incompressible blob. @param number which of sixteen: 20 KB to 60 KB, and every fourth 270
 * KB */
export function noise(number: number): MadeObject {
  const made = NOISE[number];
  if (made !== undefined) return made;
  const bytes = Buffer.alloc(number % 4 === 0 ? 270_000 : 20_000 + number * 2_500);
  let state = number + 1;
  for (let at = 0; at < bytes.length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes.writeUInt32LE((state ^ (state >>> 15)) >>> 0, at);
  }
  return (NOISE[number] = makeObject("blob", bytes));
}

/** The objects of a run. */
export class History {
  readonly #objects = new Map<string, MadeObject>();
  readonly #links = new Map<string, readonly string[]>();

  get(oid: string): MadeObject | undefined {
    return this.#objects.get(oid);
  }

  /** @throws Error for an object that was never made */
  demand(oid: string): MadeObject {
    const object = this.#objects.get(oid);
    if (object === undefined) throw new Error(`${oid} was never made`);
    return object;
  }

  add(object: MadeObject): MadeObject {
    if (!this.#objects.has(object.oid)) this.#objects.set(object.oid, object);
    return this.#objects.get(object.oid)!;
  }

  /** What an object refers to. */
  links(oid: string): readonly string[] {
    let links = this.#links.get(oid);
    if (links === undefined) this.#links.set(oid, (links = readLinks(this.demand(oid))));
    return links;
  }

  /** Everything that some objects reach, with themselves, except what others reach. */
  closure(tips: Iterable<string>, without: ReadonlySet<string> = new Set()): Set<string> {
    const reached = new Set([...tips].filter((oid) => !without.has(oid)));
    for (const oid of reached) for (const link of this.links(oid)) if (!without.has(link)) reached.add(link);
    return reached;
  }

  /** All commits made. */
  commits(): string[] {
    return [...this.#objects.values()].filter(({ type }) => type === "commit").map(({ oid }) => oid);
  }

  /** The last line of a commit's message. */
  message(commit: string): string {
    return this.demand(commit).content.toString("latin1").split("\n").at(-2)!;
  }

  /** The commit that an object is, or that its tags point to. */
  peel(oid: string): string {
    return this.demand(oid).type === "tag" ? this.peel(this.links(oid)[0]!) : oid;
  }

  /** The files of a commit. */
  files(commit: string): Files {
    const files = new Map<string, string>();
    const read = (tree: string, prefix: string): void => {
      for (const { isTree, name, oid } of readTree(this.demand(tree).content)) {
        if (isTree) read(oid, `${prefix}${name}/`);
        else files.set(prefix + name, oid);
      }
    };
    read(this.links(commit)[0]!, "");
    return files;
  }

  /** Makes the trees of some files.
   * @returns all of them, the root last */
  makeTrees(files: Files): MadeObject[] {
    const folders = Map.groupBy(files, ([path]) => (path.includes("/") ? path.slice(0, path.indexOf("/")) : ""));
    const made: MadeObject[] = [];
    const entries: [name: string, mode: string, oid: string][] = [];
    for (const [folder, members] of folders) {
      if (folder === "")
        entries.push(...members.map(([path, oid]) => [path, "100644", oid] as [string, string, string]));
      else {
        const tree = treeOf(members.map(([path, oid]) => [path.slice(folder.length + 1), "100644", oid]));
        made.push(this.add(tree));
        entries.push([folder, "40000", tree.oid]);
      }
    }
    return [...made, this.add(treeOf(entries))];
  }

  /** Makes a commit. @param blobs those of its files that are new */
  makeCommit(files: Files, parents: readonly string[], message: string, blobs: readonly MadeObject[]): NewCommit {
    const trees = this.makeTrees(files);
    const lines = [`tree ${trees.at(-1)!.oid}`, ...parents.map((parent) => `parent ${parent}`)];
    const text = `${lines.join("\n")}\nauthor ${PERSON}\ncommitter ${PERSON}\n\n${message}\n`;
    const commit = this.add(makeObject("commit", text));
    return { oid: commit.oid, objects: [...blobs.map((blob) => this.add(blob)), ...trees, commit] };
  }

  /** Makes a pack of objects, some of them as deltas.
   * @param had what the receiver has: possible bases of thin deltas */
  pack(objects: readonly MadeObject[], had: ReadonlySet<string>, random: Random): Buffer {
    const bases = [...had].filter((oid) => ["tree", "blob"].includes(this.demand(oid).type)).slice(-40);
    const earlier: MadeObject[] = [];
    const entries = random.shuffled(objects).map((object) => {
      const candidates = [...earlier, ...bases.map((oid) => this.demand(oid))].filter(
        ({ type }) => type === object.type,
      );
      earlier.push(object);
      const isDelta = candidates.length > 0 && object.content.length < 10_000 && random.below(3) > 0;
      return isDelta ? encodeDeltaOn(random.pick(candidates), object) : encodeWhole(object);
    });
    return assemblePack(entries);
  }
}

function encodeWhole(object: MadeObject): Buffer {
  let entry = ENTRIES.get(object);
  if (entry === undefined) {
    const compressed = deflateSync(object.content, { level: object.content.length > 10_000 ? 0 : 6 });
    ENTRIES.set(object, (entry = encodeEntry({ ...object, compressed })));
  }
  return entry;
}

/** A simple delta: only the common beginning is copied. */
function encodeDeltaOn(base: MadeObject, { content }: MadeObject): Buffer {
  const most = Math.min(base.content.length, content.length, 0xffff);
  let same = 0;
  while (same < most && base.content[same] === content[same]) same++;
  if (same === 0) return encodeEntry(refDelta(base.oid, insertAll(base.content.length, content)));
  const inserts: Buffer[] = [];
  for (let at = same; at < content.length; at += 127) inserts.push(insert(content.subarray(at, at + 127)));
  const delta = encodeDelta(base.content.length, content.length, copy(0, same), ...inserts);
  return encodeEntry(refDelta(base.oid, delta));
}

function treeOf(entries: readonly (readonly [name: string, mode: string, oid: string])[]): MadeObject {
  const key = ([name, mode]: readonly [string, string, string]): string => (mode === "40000" ? `${name}/` : name);
  const sorted = entries.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  return makeTree(...sorted.map(([name, mode, oid]) => [mode, name, oid] as const));
}

function readTree(content: Buffer): { isTree: boolean; name: string; oid: string }[] {
  const entries = [];
  for (let at = 0; at < content.length;) {
    const nul = content.indexOf(0, at);
    const [mode, name] = content.toString("latin1", at, nul).split(" ");
    entries.push({ isTree: mode === "40000", name: name!, oid: content.toString("hex", nul + 1, nul + 21) });
    at = nul + 21;
  }
  return entries;
}

function readLinks({ type, content }: MadeObject): string[] {
  if (type === "blob") return [];
  if (type === "tree") return readTree(content).map(({ oid }) => oid);
  const head = content.toString("latin1", 0, content.indexOf("\n\n"));
  return Array.from(head.matchAll(/^(?:tree|parent|object) ([0-9a-f]{40})$/gm), ([, oid]) => oid!);
}
