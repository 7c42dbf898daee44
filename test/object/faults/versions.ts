import { createCipheriv } from "node:crypto";
import {
  assemblePack,
  copy,
  encodeDelta,
  insert,
  insertAll,
  makeCommit,
  type MadeObject,
  makeObject,
  makeTree,
  refDelta,
} from "../../harness/pack-builder.ts";
import { encodeEntry } from "../../harness/raw.ts";

/** A commit with a file that grows by a line, a directory, and a file of incompressible bytes. */
export interface Version {
  readonly commit: MadeObject;
  /** A thin pack of the new objects, as deltas on the previous version. */
  readonly pack: Buffer;
  readonly log: MadeObject;
  readonly tree: MadeObject;
}

/** Makes the version after another, or the first.
 * @param noiseBytes of each incompressible file */
export function makeVersion(before: Version | null, name: string, ...noiseBytes: readonly number[]): Version {
  const line = `line of ${name}\n`;
  const log = makeObject("blob", Buffer.concat([before?.log.content ?? Buffer.alloc(0), Buffer.from(line)]));
  const dir = makeTree(["100644", "inner", makeObject("blob", `inner ${name}\n`)]);
  const noise = noiseBytes.map((sizeBytes, i) => makeObject("blob", makeNoise(`${name} ${i}`, sizeBytes)));
  const tree = makeTree(
    ["40000", "dir", dir],
    ["100644", "log", log],
    ...noise.map((blob, i) => ["100644", `noise-${i}`, blob] as const),
  );
  const commit = makeCommit(tree, before === null ? [] : [before.commit.oid], `${name}\n`);
  const entries = [
    encodeEntry(commit),
    encodeEntry(
      before === null ? tree : refDelta(before.tree.oid, insertAll(before.tree.content.length, tree.content)),
    ),
    encodeEntry(dir),
    encodeEntry(makeObject("blob", `inner ${name}\n`)),
    encodeEntry(before === null ? log : refDelta(before.log.oid, appended(before.log.content.length, line))),
    ...noise.map((blob) => encodeEntry(blob)),
  ];
  return { commit, tree, log, pack: assemblePack(entries) };
}

/** The objects of a commit on top of another, the commit last: incompressible files of so many
 * bytes. */
export function makeFat(parent: string, name: string, ...sizes: readonly number[]): MadeObject[] {
  const blobs = sizes.map((sizeBytes, i) => makeObject("blob", makeNoise(`${name} ${i}`, sizeBytes)));
  const tree = makeTree(...blobs.map((blob, i) => ["100644", `fat-${i}`, blob] as const));
  return [...blobs, tree, makeCommit(tree, [parent], `${name}\n`)];
}

function appended(baseBytes: number, line: string): Buffer {
  return encodeDelta(baseBytes, baseBytes + line.length, copy(0, baseBytes), insert(line));
}

/** Incompressible bytes, the same for the same name. */
export function makeNoise(name: string, sizeBytes: number): Buffer {
  const cipher = createCipheriv("aes-128-ctr", Buffer.from(name.padEnd(16).slice(0, 16)), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(sizeBytes));
}
