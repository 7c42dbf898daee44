/** Small commits, made without git: each is a pack as a client sends it, thin and with its trees as deltas. */
import { git, tryGit } from "../../../test/harness/git.ts";
import { encodePack, encodeTree, hashObject } from "../../../test/harness/raw.ts";

/** One push. */
export interface SmallPush {
  readonly old: string;
  readonly new: string;
  readonly pack: Buffer;
}

/** Files that are changed in turn, in a folder of their own. */
const FILES = 100;
const FOLDER = "small-pushes";

/** Where an id begins in each entry of the folder's tree: behind `100644 note-00\0`. */
const ENTRY_BYTES = "100644 note-00".length + 1 + 20;

const PERSON = "Ada Example <ada@example.com>";

/** Makes commits on top of one, each a blob, two trees and a commit.
 * @param dir a repository that holds `tip` */
export async function* makeSmallPushes(dir: string, tip: string, count: number): AsyncGenerator<SmallPush, void, void> {
  const names = Array.from({ length: FILES }, (_, index) => `note-${String(index).padStart(2, "0")}`);
  const notes = names.map(() => hashObject("blob", Buffer.from("empty\n")));
  const [place, rootIdAt] = await readRoot(dir, tip);
  let root = place;
  let rootOid: string | null = null;
  let old = tip;
  for (let number = 0; number < count; number++) {
    const changed = number % FILES;
    const blob = Buffer.from(`Push ${number}\n${"a line of the note\n".repeat(1 + (number % 20))}`);
    const folderBase = rootOid === null ? null : encodeFolder(names, notes);
    notes[changed] = hashObject("blob", blob);
    const folder = encodeFolder(names, notes);
    const folderOid = hashObject("tree", folder);
    const rootBase = root;
    root = Buffer.from(root);
    root.write(folderOid, rootIdAt, "hex");
    const baseOid = rootOid;
    rootOid = hashObject("tree", root);
    const date = `${1_800_000_000 + 60 * number} +0000`;
    const commit = Buffer.from(
      `tree ${rootOid}\nparent ${old}\nauthor ${PERSON} ${date}\ncommitter ${PERSON} ${date}\n\nPush ${number}\n`,
    );
    const isFirst = folderBase === null || baseOid === null;
    const pack = encodePack([
      { type: "commit", content: commit },
      ...(isFirst
        ? [
            { type: "tree" as const, content: root },
            { type: "tree" as const, content: folder },
            { type: "blob" as const, content: Buffer.from("empty\n") },
          ]
        : [
            { type: "ref-delta" as const, baseOid, content: encodeIdDelta(rootBase, root, rootIdAt) },
            {
              type: "ref-delta" as const,
              baseOid: hashObject("tree", folderBase),
              content: encodeIdDelta(folderBase, folder, (changed + 1) * ENTRY_BYTES - 20),
            },
          ]),
      { type: "blob", content: blob },
    ]);
    const oid = hashObject("commit", commit);
    yield { old, new: oid, pack };
    old = oid;
  }
}

function encodeFolder(names: readonly string[], oids: readonly string[]): Buffer {
  return encodeTree(names.map((name, index) => ({ mode: "100644", name, oid: oids[index]! })));
}

/** The root tree of a commit, with a place for the folder. */
async function readRoot(dir: string, commit: string): Promise<[root: Buffer, idAt: number]> {
  const listed = (await git(dir, "ls-tree", commit)).split("\n").filter((line) => !line.endsWith(`\t${FOLDER}`));
  const place = `040000 tree ${"0".repeat(40)}\t${FOLDER}`;
  const made = await tryGit(dir, ["mktree", "--missing"], { stdin: `${[...listed, place].join("\n")}\n` });
  const read = await tryGit(dir, ["cat-file", "tree", made.stdout.trim()]);
  const name = Buffer.from(`40000 ${FOLDER}\0`);
  return [read.stdoutBytes, read.stdoutBytes.indexOf(name) + name.length];
}

/** A delta that replaces an id of 20 bytes. @see gitformat-pack(5), "Deltified representation" */
function encodeIdDelta(base: Buffer, result: Buffer, idAt: number): Buffer {
  return Buffer.concat([
    encodeSize(base.length),
    encodeSize(result.length),
    encodeCopy(0, idAt),
    Buffer.from([20]),
    result.subarray(idAt, idAt + 20),
    encodeCopy(idAt + 20, base.length - idAt - 20),
  ]);
}

function encodeSize(size: number): Buffer {
  const bytes = [];
  for (; size > 127; size = Math.floor(size / 128)) bytes.push((size % 128) | 0x80);
  return Buffer.from([...bytes, size]);
}

/** Copies up to 65,535 bytes from below 65,536. */
function encodeCopy(offset: number, size: number): Buffer {
  if (size === 0) return Buffer.alloc(0);
  return Buffer.from([0b1011_0011, offset & 0xff, offset >> 8, size & 0xff, size >> 8]);
}
