/** The WebAssembly module's operations inside workerd, implementations alternating. Indexing is
 * compared with git, too. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { type ObjectType, toTypeNumber } from "../../../src/base/format/object.ts";
import { PROJECT } from "../../../test/harness/build.ts";
import { git, gitBytes } from "../../../test/harness/git.ts";
import { hashObject } from "../../../test/harness/raw.ts";
import { findFreePort } from "../../../test/harness/server.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { count } from "../../options.ts";
import { type Bench, BUNDLE, defineCase, rounds } from "../figures/bench.ts";
import type { Measures } from "../figures/sample.ts";
import { noiseText, type Subject } from "../../../test/harness/fast-import.ts";
import { openSubjects } from "../work/subjects.ts";

/** The implementations of each operation inside workerd. */
const IMPLEMENTATIONS: Readonly<Record<CodecWork, readonly string[]>> = {
  index: ["holdfast", "isomorphic-git"],
  inflate: ["holdfast", "node:zlib", "pako"],
  deflate: ["holdfast", "node:zlib", "pako"],
  "SHA-1": ["holdfast", "node:crypto", "@noble/hashes"],
};

export const codec = defineCase({
  summary: "the WebAssembly module beside git, node:zlib, node:crypto and JavaScript's libraries",
  about: `Runs inside workerd; each output is checked. In MB/s, where more is better:

index    a whole pack, beside isomorphic-git and git index-pack --threads=1 (native); MB of the pack
inflate  one zlib stream after the other, beside node:zlib and pako; MB of output
deflate  the reverse, level 6; MB of input
SHA-1    ids of objects, beside node:crypto and @noble/hashes

Inputs: ct (commits and trees), blob, noise (8 KB of base64 each), and entries (the pack). Git has
no command that does only one of the others. node:zlib and node:crypto are workerd's C libraries.`,
  options: { "most-mb": count("of ct, blob and noise each", 8), rounds: rounds(5), bundle: BUNDLE },
  async measure(values, bench) {
    for (const subject of await openSubjects(values.bundle)) {
      const corpora = await makeCorpora(subject, values["most-mb"] * 1e6);
      const url = await startCodecs(bench.stack);
      for (const corpus of corpora)
        await bench.attempt(`${corpus.work} of ${corpus.name}`, () => measureCodecs(corpus, values.rounds, url, bench));
    }
  },
});

/** Measures one operation on a corpus.
 * @param url of `startCodecs`
 * @throws Error if an implementation's output is wrong */
export async function measureCodecs(corpus: Corpus, rounds: number, url: string, bench: Bench): Promise<void> {
  const { work, name, items } = corpus;
  const texts = items.map(([bytes, known]) => [Buffer.from(bytes).toString("base64"), known]);
  await ask(`${url}/corpus`, JSON.stringify(texts));
  const inWorkerd = IMPLEMENTATIONS[work].map((by) => [by, () => measureInWorkerd(corpus, by, url)] as const);
  const native = work === "index" ? { native: await prepareNative(corpus) } : {};
  await bench.takeTurns({ work, corpus: name }, rounds, { ...native, ...Object.fromEntries(inWorkerd) });
}

async function measureInWorkerd(corpus: Corpus, by: string, url: string): Promise<Measures> {
  const query = new URLSearchParams({ work: corpus.work, by });
  const idleMs = await time(() => ask(`${url}/idle`));
  const tookMs = await time(() => ask(`${url}/run?${query.toString()}`));
  check(corpus, by, await ask(`${url}/digest?${query.toString()}`));
  return toMeasures(corpus, tookMs > idleMs ? tookMs - idleMs : Number.NaN);
}

async function prepareNative(corpus: Corpus): Promise<() => Promise<Measures>> {
  const dir = makeTempDir("index");
  const [pack, index] = [join(dir, "corpus.pack"), join(dir, "corpus.idx")];
  await writeFile(pack, corpus.items[0]![0]);
  return async () => {
    const tookMs = await time(() => git(dir, "index-pack", "--threads=1", "-o", index, pack));
    check(corpus, "native", digestOf([readIds(await readFile(index))]));
    return toMeasures(corpus, tookMs);
  };
}

/** The sorted ids of an index. @see gitformat-pack(5), "Version 2 pack-*.idx files" */
function readIds(index: Buffer): Buffer {
  const start = 8 + 256 * 4;
  return index.subarray(start, start + 20 * index.readUInt32BE(start - 4));
}

function check({ work, name, digest }: Corpus, by: string, actual: string): void {
  if (actual !== digest)
    throw new Error(`${work} of ${name} by ${by} is wrong: its output is ${actual}, not ${digest}`);
}

function toMeasures({ sizeBytes }: Corpus, ms: number): Measures {
  return { "MB/s": sizeBytes / 1000 / ms };
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** Starts workerd with all implementations.
 * @returns its URL
 * @param stack stops it */
export async function startCodecs(stack: AsyncDisposableStack): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "codec-worker.ts")],
    bundle: true,
    format: "esm",
    target: "esnext",
    external: ["node:*", "*.wasm"],
    // isomorphic-git's dependencies load Node's modules with `require`, which an ES module lacks.
    banner: { js: 'import * as nodeBuffer from "node:buffer"; const require = () => nodeBuffer;' },
    alias: { buffer: "node:buffer" },
    write: false,
  });
  const port = await findFreePort();
  const wasm = join(PROJECT, "src/base/codec/holdfast.wasm");
  const worker = {
    name: "codecs",
    compatibilityDate: "2026-11-01",
    compatibilityFlags: ["nodejs_compat"],
    modulesRoot: PROJECT,
    modules: [
      {
        type: "ESModule" as const,
        path: join(import.meta.dirname, "codec-worker.js"),
        contents: outputFiles[0]!.text,
      },
      { type: "CompiledWasm" as const, path: wasm, contents: await readFile(wasm) },
    ],
  };
  const miniflare = new Miniflare(convertV4MiniflareOptions({ host: "127.0.0.1", port, cf: false, workers: [worker] }));
  stack.defer(() => miniflare.dispose());
  await miniflare.ready;
  return `http://127.0.0.1:${port}`;
}

async function ask(url: string, body?: string): Promise<string> {
  const response = await fetch(url, body === undefined ? {} : { method: "POST", body });
  const answer = await response.text();
  if (!response.ok) throw new Error(`the codecs' worker answered ${response.status}: ${answer.slice(0, 500)}`);
  return answer;
}

/** The operations that are measured. */
type CodecWork = "index" | "inflate" | "deflate" | "SHA-1";

/** The input of one operation. */
interface Corpus {
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
  const objects = readBatch(await gitBytes(dir, ["cat-file", "--batch"], { stdin: `${oids.join("\n")}\n` }));
  const ofTypes = (...types: readonly ObjectType[]): Content[] => {
    let sum = 0;
    return objects.filter(({ type, content }) => types.includes(type) && (sum += content.length) <= mostBytes);
  };
  const sets = { ct: ofTypes("commit", "tree"), blob: ofTypes("blob"), noise: makeNoiseBlobs(mostBytes) };
  const pack = await gitBytes(dir, ["pack-objects", "-q", "--all", "--revs", "--stdout", "--delta-base-offset"]);
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

async function listOids(dir: string): Promise<string[]> {
  const listed = await gitBytes(dir, ["rev-list", "--all", "--objects", "--no-object-names"]);
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
function digestOf(made: readonly Uint8Array[]): string {
  const hash = createHash("sha1");
  for (const bytes of made) hash.update(bytes);
  return hash.digest("hex");
}
