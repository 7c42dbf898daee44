/** Objects of Git LFS: large ones up and down, beside a plain file server, and batches of known
 * ones. */
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as openRequest } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { LfsClient, objectOf } from "../../../test/harness/lfs.ts";
import { findFreePort } from "../../../test/harness/server.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { count } from "../../options.ts";
import { type Bench, defineCase } from "../figures/bench.ts";
import type { Measures } from "../figures/sample.ts";
import { HOST_OPTIONS, openHosts } from "../hosts/hosts.ts";

const FILE_SERVER = join(import.meta.dirname, "../hosts/file-server.ts");

const BLOCK_BYTES = 1_000_000;

/** Objects of a batch. */
const BATCH = 1_000;

/** Puts at a time while the batch is made. */
const LINES = 20;

export const lfs = defineCase({
  summary: "objects of Git LFS, beside a plain file server",
  about: `"native" is a file server of 30 lines in Node. The local runtime's R2 keeps objects in SQLite and in
files, by code that a deployment does not run. "bare R2" is a Worker of three lines that does
nothing but store bodies there: most of an upload's time is its.`,
  options: {
    mb: count("size of the large object, MB", 1_000),
    rounds: count("of each", 3),
    batches: count("requests of a batch in each round", 20),
    ...HOST_OPTIONS,
  },
  async measure({ mb, rounds, batches, ...values }, bench) {
    const { holdfast } = await openHosts({ ...values, "no-native": true }, bench);
    const files = values["no-native"] ? null : `${await startFiles(bench)}/object`;
    const bare = values["no-native"] ? null : await startBareBucket(bench.stack);
    const token = process.env["HOLDFAST_TOKEN"] ?? null;
    const open = async (): Promise<LfsClient> => new LfsClient(await holdfast.makeRepository(), token);

    const blocks = Array.from({ length: mb }, () => BLOCK);
    const hash = createHash("sha256");
    for (const block of blocks) hash.update(block);
    const oid = hash.digest("hex");
    const client = await open();
    // The first batch makes the repository.
    await client.batch("upload", [{ oid, size: mb * BLOCK_BYTES }]);
    const headers = client.authorization();
    const up = async (): Promise<Measures> => {
      const fresh = await open();
      await fresh.batch("upload", [{ oid, size: mb * BLOCK_BYTES }]);
      const cpuSeconds = holdfast.readCpuSeconds();
      const measures = await put(`${fresh.url}/objects/${oid}`, blocks, headers);
      const used = { "CPU s": holdfast.readCpuSeconds() - cpuSeconds, ...memory(holdfast.readPeakMemoryBytes()) };
      await holdfast.remove(fresh.url.replace(/\/info\/lfs$/, ""));
      return { ...measures, ...used };
    };
    await bench.takeTurns({ work: `${mb} MB up` }, rounds, {
      ...(files !== null && { native: () => put(files, blocks, {}) }),
      ...(bare !== null && { "bare R2": () => put(bare, blocks, {}) }),
      holdfast: up,
    });

    await put(`${client.url}/objects/${oid}`, blocks, headers);
    await bench.takeTurns({ work: `${mb} MB down` }, rounds, {
      ...(files !== null && { native: () => get(files, {}) }),
      holdfast: () => get(`${client.url}/objects/${oid}`, headers),
    });

    const known = Array.from({ length: BATCH }, () => objectOf(randomBytes(100)));
    for (let from = 0; from < BATCH; from += LINES)
      await Promise.all(known.slice(from, from + LINES).map((object) => client.put(object)));
    for (const operation of ["upload", "download"]) {
      await bench.takeTurns({ work: `batch of ${BATCH} known objects, ${operation}` }, rounds, {
        holdfast: () => askBatches(client, operation, known, batches),
      });
    }
  },
});

const BLOCK = randomBytes(BLOCK_BYTES);

function memory(peakBytes: number | null): Measures {
  return peakBytes === null ? {} : { "RSS MB since start": peakBytes / 1e6 };
}

/** Starts the file server, which ends with the bench. @returns its URL */
async function startFiles({ stack }: Bench): Promise<string> {
  const child = spawn(process.execPath, [FILE_SERVER, makeTempDir("files")], { stdio: ["ignore", "pipe", "inherit"] });
  stack.defer(async () => {
    child.kill();
    await once(child, "exit");
  });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return url;
}

/** Sends a body, as fast as it is taken. @throws Error unless it is answered with 200 */
async function put(url: string, blocks: readonly Buffer[], headers: Record<string, string>): Promise<Measures> {
  const startMs = performance.now();
  const length = blocks.reduce((sum, block) => sum + block.length, 0);
  const sent = openRequest(url, { method: "PUT", headers: { "Content-Length": length, ...headers } });
  const answered = once(sent, "response");
  for (const block of blocks) if (!sent.write(block)) await once(sent, "drain");
  sent.end();
  const [response] = (await answered) as [NodeJS.ReadableStream & { statusCode: number }];
  response.resume();
  await once(response, "end");
  if (response.statusCode !== 200) throw new Error(`${url} was answered with ${response.statusCode}`);
  return { s: (performance.now() - startMs) / 1_000 };
}

async function get(url: string, headers: Record<string, string>): Promise<Measures> {
  const startMs = performance.now();
  const response = await fetch(url, { headers });
  let bytes = 0;
  for await (const piece of response.body!) bytes += piece.length;
  if (bytes !== Number(response.headers.get("Content-Length"))) throw new Error(`${url} sent ${bytes} bytes`);
  return { s: (performance.now() - startMs) / 1_000 };
}

/** The median of some requests. */
async function askBatches(
  client: LfsClient,
  operation: string,
  objects: Parameters<LfsClient["batch"]>[1],
  times: number,
): Promise<Measures> {
  const body = JSON.stringify({ operation, objects: objects.map(({ oid, size }) => ({ oid, size })) });
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const startMs = performance.now();
    const response = await fetch(`${client.url}/objects/batch`, {
      method: "POST",
      headers: client.authorization(),
      body,
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`the batch was answered with ${response.status}`);
    took.push(performance.now() - startMs);
  }
  return { ms: took.toSorted((a, b) => a - b)[Math.floor(times / 2)]! };
}

const SCRIPT = `export default { async fetch(request, { BUCKET }) {
  await BUCKET.put("object", request.body);
  return new Response();
} };`;

/** Starts the Worker, whose R2 lies on disk.
 * @param stack stops it
 * @returns its URL */
async function startBareBucket(stack: AsyncDisposableStack): Promise<string> {
  const port = await findFreePort();
  const worker = {
    name: "bare",
    compatibilityDate: "2026-11-01",
    modules: [{ type: "ESModule" as const, path: "bare.mjs", contents: SCRIPT }],
    r2Buckets: ["BUCKET"],
  };
  const r2Persist = makeTempDir("bare");
  const options = { host: "127.0.0.1", port, cf: false as const, r2Persist, workers: [worker] };
  const miniflare = new Miniflare(convertV4MiniflareOptions(options));
  stack.defer(() => miniflare.dispose());
  await miniflare.ready;
  return `http://127.0.0.1:${port}`;
}
