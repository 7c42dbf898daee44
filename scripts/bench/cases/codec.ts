/** The WebAssembly module's operations inside workerd, implementations alternating. Indexing is
 * compared with git, too. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { PROJECT } from "../../../test/harness/build.ts";
import { git } from "../../../test/harness/git.ts";
import { findFreePort } from "../../../test/harness/server.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Bench } from "../figures/bench.ts";
import { BUNDLE, defineCase, rounds } from "../figures/command.ts";
import { count } from "../../options.ts";
import type { Measures } from "../figures/sample.ts";
import { openSubjects } from "../work/subjects.ts";
import { type CodecWork, type Corpus, digestOf, makeCorpora } from "./codec-corpora.ts";

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
  const wasm = join(PROJECT, "src/codec/holdfast.wasm");
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
