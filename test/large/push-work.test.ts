// How much CPU a push's budget of work takes: the platform ends a request after 300 seconds. A
// tenth of the budget is used, for each kind of work.
import { createDeflate } from "node:zlib";
import { expect, test } from "vitest";
import { MAX_PUSH_WORK_BYTES } from "../../src/base/format/limits.ts";
import { noise } from "../base/codec/sample.ts";
import {
  assemblePack,
  copy,
  encodeDelta,
  encodeEntryHead,
  insert,
  makeObject,
  refDelta,
} from "../harness/pack-builder.ts";
import { encodeEntry } from "../harness/raw.ts";
import { sendPush } from "../harness/raw-push.ts";
import { startServer } from "../harness/server.ts";

const MIB = 1024 * 1024;
const CPU_LIMIT_SECONDS = 300;
const PART = 10;

/** The entry of a blob of zeros. */
async function zeros(sizeBytes: number): Promise<Buffer> {
  const deflate = createDeflate({ level: 9 });
  const pieces: Buffer[] = [encodeEntryHead(3, BigInt(sizeBytes))];
  deflate.on("data", (piece: Buffer) => pieces.push(piece));
  const piece = Buffer.alloc(4 * MIB);
  for (let at = 0; at < sizeBytes; at += piece.length) {
    if (!deflate.write(piece)) await new Promise((drained) => deflate.once("drain", drained));
  }
  deflate.end();
  await new Promise((ended) => deflate.once("end", ended));
  return Buffer.concat(pieces);
}

/** Entries of so many blobs, each made by copying one base many times. */
function copies(base: Buffer, times: number, count: number): Buffer[] {
  const object = makeObject("blob", base);
  const all = Array.from({ length: times }, () => copy(0, base.length));
  const deltas = Array.from({ length: count }, (_, i) =>
    refDelta(object.oid, encodeDelta(base.length, times * base.length + `${i}`.length, ...all, insert(`${i}`))),
  );
  return [encodeEntry(object), ...deltas.map((delta) => encodeEntry(delta))];
}

/** Made once. */
let gibibyte: Buffer | null = null;

test.each<[string, () => Buffer[]]>([
  ["zeros", () => [gibibyte!, gibibyte!, gibibyte!]],
  ["blobs of 15 MiB, made of deltas in memory", () => copies(Buffer.from(noise(MIB)), 15, 200)],
  [
    "blobs of 128 MiB, made of deltas piece by piece, of text",
    () => copies(Buffer.alloc(MIB, "noise of a bomb"), 128, 60),
  ],
  ["blobs of 128 MiB, made of deltas piece by piece, of noise", () => copies(Buffer.from(noise(MIB)), 128, 60)],
])("work of %s", async (what, makeEntries) => {
  gibibyte ??= await zeros(1024 * MIB);
  const pack = assemblePack(makeEntries());
  const maxPushWorkBytes = Math.floor(MAX_PUSH_WORK_BYTES / PART);
  const server = await startServer({ vars: { LIMITS: JSON.stringify({ maxPushWorkBytes }) } });
  try {
    const before = server.readUsage().cpuSeconds;
    const commands = [{ name: "refs/heads/main", new: "1".repeat(40) }];
    const { unpack } = await sendPush(`${server.url}/me/bomb.git`, { commands, pack });
    const cpuSeconds = server.readUsage().cpuSeconds - before;
    expect(unpack).toMatch(/work of the push .* exceeds the limit/);
    console.log(`${what}: ${cpuSeconds.toFixed(1)} s of CPU for ${maxPushWorkBytes} bytes of work`);
    expect(cpuSeconds).toBeLessThan(CPU_LIMIT_SECONDS / PART);
  } finally {
    await server.close();
  }
});
