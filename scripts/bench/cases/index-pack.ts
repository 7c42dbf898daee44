/** Indexing alone: the pack indexer inside workerd beside `git index-pack --threads=1`, on one pack. */
import { rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { PROJECT } from "../../../test/harness/build.ts";
import { git, tryGit } from "../../../test/harness/git.ts";
import { findFreePort } from "../../../test/harness/server.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { readDescendantsCpuSeconds } from "../hosts/processes.ts";
import type { Subject } from "../work/subjects.ts";
import type { Measures, Sample } from "../figures/sample.ts";
import { takeTurns } from "../figures/turns.ts";

/** Indexes what a push of the whole repository would carry. */
export async function measureIndex(subject: Subject, rounds: number): Promise<Sample[]> {
  const pack = await packAll(subject);
  const { url, miniflare } = await startIndexer();
  try {
    await ask(`${url}/pack`, pack);
    const dir = makeTempDir("index");
    const packPath = join(dir, "subject.pack");
    await writeFile(packPath, pack);
    const samples = await takeTurns({ work: "index", repository: subject.name }, rounds, {
      native: () => measure(() => git(dir, "index-pack", "--threads=1", "-o", join(dir, "subject.idx"), packPath)),
      async holdfast() {
        const idle = await measure(() => ask(`${url}/idle`));
        const indexed = await measure(async () => checkCount(await ask(`${url}/index`), pack));
        return { ...indexed, "wall s": indexed["wall s"]! - idle["wall s"]! };
      },
    });
    rmSync(dir, { recursive: true });
    return samples;
  } finally {
    await miniflare.dispose();
  }
}

async function packAll({ dir }: Subject): Promise<Buffer> {
  const packing = ["pack-objects", "-q", "--all", "--revs", "--stdout", "--delta-base-offset"];
  const { code, stdoutBytes, stderr } = await tryGit(dir, packing);
  if (code !== 0) throw new Error(`git pack-objects ended with ${code}:\n${stderr}`);
  return stdoutBytes;
}

/** Wall time, and the CPU of the processes that this one has started: only the measured one is busy. */
async function measure(work: () => Promise<unknown>): Promise<Measures> {
  const cpuBefore = readDescendantsCpuSeconds(process.pid);
  const start = performance.now();
  await work();
  const wallSeconds = (performance.now() - start) / 1000;
  return { "wall s": wallSeconds, "CPU s": readDescendantsCpuSeconds(process.pid) - cpuBefore };
}

async function startIndexer(): Promise<{ readonly url: string; readonly miniflare: Miniflare }> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "index-worker.ts")],
    bundle: true,
    format: "esm",
    target: "esnext",
    external: ["node:*", "*.wasm"],
    write: false,
  });
  const port = await findFreePort();
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port,
      cf: false,
      workers: [
        {
          name: "indexer",
          compatibilityDate: "2026-11-01",
          compatibilityFlags: ["nodejs_compat"],
          modulesRoot: PROJECT,
          modules: [
            { type: "ESModule", path: join(import.meta.dirname, "index-worker.js"), contents: outputFiles[0]!.text },
            await readModule(join(PROJECT, "src/codec/holdfast.wasm")),
          ],
        },
      ],
    }),
  );
  await miniflare.ready;
  return { url: `http://127.0.0.1:${port}`, miniflare };
}

async function readModule(path: string): Promise<{ type: "CompiledWasm"; path: string; contents: Uint8Array }> {
  return { type: "CompiledWasm", path, contents: await readFile(path) };
}

async function ask(url: string, body?: Uint8Array): Promise<string> {
  const response = await fetch(url, body === undefined ? {} : { method: "POST", body });
  const answer = await response.text();
  if (!response.ok) throw new Error(`the indexer answered ${response.status}: ${answer}`);
  return answer;
}

/** The pack's header says how many objects must have come out. @see gitformat-pack(5) */
function checkCount(answer: string, pack: Buffer): void {
  const expected = pack.readUInt32BE(8);
  if (Number(answer) !== expected) throw new Error(`${answer} objects were indexed, not ${expected}`);
}
