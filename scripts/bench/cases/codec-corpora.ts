/** The codec's inputs: commits and trees, blobs, noise, and a pack with its entries. */
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { toTypeNumber, type ObjectType } from "../../../src/format/object.ts";
import { tryGit, type GitInput } from "../../../test/harness/git.ts";
import { hashObject } from "../../../test/harness/raw.ts";
import { noiseText, type Subject } from "../work/subjects.ts";

/** The operations that are measured. */
export type CodecWork = "index" | "inflate" | "deflate" | "SHA-1";

/** The input of one operation. */
export interface Corpus {
  readonly work: CodecWork;
  readonly name: string;
  /** Each item with what the worker must know of it: the object's type, or the inflated size. */
  readonly items: readonly (readonly [bytes: Uint8Array, known: number])[];
  /** The bytes that MB/s counts: those of a pack itself, the inflated ones of zlib streams. */
  readonly sizeBytes: number;
  /** SHA-1 of the expected output: ids in order, or bytes. */
  readonly digest: string;
}

interface Content {
  readonly type: ObjectType;
  readonly oid: string;
  readonly content: Uint8Array;
}

/** Makes all corpora.
 * @param mostBytes of `ct`, `blob` and `noise` each */
export async function makeCorpora({ dir }: Subject, mostBytes: number): Promise<Corpus[]> {
  const oids = await listOids(dir);
  const objects = readBatch(await run(dir, ["cat-file", "--batch"], { stdin: `${oids.join("\n")}\n` }));
  const ofTypes = (...types: readonly ObjectType[]): Content[] => {
    let sum = 0;
    return objects.filter(({ type, content }) => types.includes(type) && (sum += content.length) <= mostBytes);
  };
  const sets = { ct: ofTypes("commit", "tree"), blob: ofTypes("blob"), noise: makeNoiseBlobs(mostBytes) };
  const pack = await run(dir, ["pack-objects", "-q", "--all", "--revs", "--stdout", "--delta-base-offset"]);
  return [
    {
      work: "index",
      name: "entries",
      items: [[pack, 0]],
      sizeBytes: pack.length,
      digest: digestOf(oids.toSorted().map((oid) => Buffer.from(oid, "hex"))),
    },
    ...(["inflate", "deflate", "SHA-1"] as const).flatMap((work) =>
      Object.entries(sets).map(([name, contents]) => toCorpus(work, name, contents)),
    ),
  ];
}

function toCorpus(work: CodecWork, name: string, contents: readonly Content[]): Corpus {
  const bytes = contents.map(({ content }) => content);
  const made = work === "SHA-1" ? contents.map(({ oid }) => Buffer.from(oid, "hex")) : bytes;
  return {
    work,
    name,
    items: contents.map(({ type, content }) =>
      work === "inflate" ? [deflateSync(content), content.length] : [content, toTypeNumber(type)],
    ),
    sizeBytes: bytes.reduce((sum, { length }) => sum + length, 0),
    digest: digestOf(made),
  };
}

async function run(dir: string, args: readonly string[], input: GitInput = {}): Promise<Buffer> {
  const { code, stdoutBytes, stderr } = await tryGit(dir, args, input);
  if (code !== 0) throw new Error(`git ${args[0]} ended with ${code}:\n${stderr}`);
  return stdoutBytes;
}

async function listOids(dir: string): Promise<string[]> {
  const listed = await run(dir, ["rev-list", "--all", "--objects", "--no-object-names"]);
  return [...new Set(listed.toString().trimEnd().split("\n"))];
}

/** @see git-cat-file(1), "BATCH OUTPUT" */
function readBatch(output: Buffer): Content[] {
  const objects: Content[] = [];
  for (let at = 0; at < output.length;) {
    const end = output.indexOf("\n", at);
    const [oid = "", type = "", size = ""] = output.toString("latin1", at, end).split(" ");
    const content = output.subarray(end + 1, end + 1 + Number(size));
    objects.push({ oid, type: type as ObjectType, content });
    at = end + 1 + content.length + 1;
  }
  return objects;
}

function makeNoiseBlobs(mostBytes: number): Content[] {
  return Array.from({ length: Math.max(1, Math.floor(mostBytes / 8192)) }, (_, number) => {
    const content = Buffer.from(noiseText(String(number)));
    return { type: "blob", oid: hashObject("blob", content), content };
  });
}

/** SHA-1 of all bytes together. */
export function digestOf(made: readonly Uint8Array[]): string {
  const hash = createHash("sha1");
  for (const bytes of made) hash.update(bytes);
  return hash.digest("hex");
}
