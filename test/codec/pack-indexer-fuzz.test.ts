// Damaged packs: refused in words, never with a trap, and never taken when git does not take them.
import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { isGitError } from "../../src/format/errors.ts";
import { Random } from "../harness/random.ts";
import { tryGit } from "../harness/git.ts";
import { type Feeding, indexPack, TRAILER_BYTES } from "./indexed-pack.ts";
import { makeSamplePacks, type SamplePack, storeObjects } from "./packs.ts";

let samples: SamplePack[];
beforeAll(async () => {
  samples = (await makeSamplePacks()).filter(({ pack }) => pack.length > 32 && pack.length < 25_000);
});

/** Where each entry of a right pack begins, and its head ends. */
function entriesOf({ pack, stored }: SamplePack): { offset: number; end: number }[] {
  const { entries, end } = indexPack(pack, { stored });
  return entries.map(({ offset }, i) => ({ offset, end: entries[i + 1]?.offset ?? end }));
}

function headLength(pack: Buffer, offset: number): number {
  const type = (pack[offset]! >> 4) & 7;
  let at = offset;
  while ((pack[at++]! & 0x80) !== 0);
  if (type === 7) return at + 20 - offset;
  if (type === 6) while ((pack[at++]! & 0x80) !== 0);
  return at - offset;
}

/** Ways to damage a body: a pack without its trailer. */
const damages: ((body: Buffer, random: Random, sample: SamplePack) => Buffer)[] = [
  function flipBits(body, random) {
    for (let i = 1 + random.below(3); i > 0; i--) body[random.below(body.length)]! ^= 1 << random.below(8);
    return body;
  },
  function truncate(body, random) {
    return body.subarray(0, random.below(body.length));
  },
  function splice(body, random, sample) {
    const entries = entriesOf(sample);
    const [from, to] = [random.pick(entries), random.pick(entries)];
    return Buffer.concat([
      body.subarray(0, to.offset),
      body.subarray(from.offset, from.end),
      body.subarray(random.pick([to.offset, to.end])),
    ]);
  },
  function removeEntry(body, random, sample) {
    const { offset, end } = random.pick(entriesOf(sample));
    body.writeUInt32BE(body.readUInt32BE(8) - 1, 8);
    return Buffer.concat([body.subarray(0, offset), body.subarray(end)]);
  },
  /** What is compressed is damaged, so that no checksum of zlib's tells. */
  function changeContent(body, random, sample) {
    const { offset, end } = random.pick(entriesOf(sample));
    const head = body.subarray(offset, offset + headLength(body, offset));
    const content = inflateSync(body.subarray(offset + head.length, end));
    if (content.length === 0) return body;
    for (let i = 1 + random.below(2); i > 0; i--)
      content[random.below(Math.min(content.length, 60))] = random.below(256);
    return Buffer.concat([body.subarray(0, offset), head, deflateSync(content), body.subarray(end)]);
  },
  function changeHead(body, random, sample) {
    const { offset } = random.pick(entriesOf(sample));
    body[offset + random.below(headLength(body, offset))] = random.below(256);
    return body;
  },
];

/** What the indexer says: null when it takes the pack. */
function refusalOf(pack: Uint8Array, feeding: Feeding): string | null {
  try {
    const { end } = indexPack(pack, feeding);
    return end === pack.length - TRAILER_BYTES ? null : "bytes follow the last entry";
  } catch (error) {
    if (isGitError(error)) return error.message;
    throw error;
  }
}

async function gitTakes({ stored }: SamplePack, pack: Uint8Array): Promise<boolean> {
  const dir = await storeObjects(stored);
  const { code, stderr } = await tryGit(dir, ["index-pack", "--stdin", "--fix-thin"], { stdin: pack });
  // Git is confused by an object that is there twice, and by a pack whose every delta is thin.
  return code === 0 || /duplicate base|already resolved/.test(stderr);
}

test.each([1, 2, 3, 4])("damaged packs, seed %i", async (seed) => {
  const random = new Random(seed);
  let [refused, taken] = [0, 0];
  for (let i = 0; i < 200; i++) {
    const sample = random.pick(samples);
    const damage = random.pick(damages);
    const body = damage(Buffer.from(sample.pack.subarray(0, -TRAILER_BYTES)), random, sample);
    const pack = Buffer.concat([body, createHash("sha1").update(body).digest()]);
    const stored = sample.stored;
    const about = `${sample.name}, ${damage.name}, ${i}`;
    const refusal = refusalOf(pack, { stored });
    const slow = refusalOf(pack, {
      stored,
      pieceBytes: 1 + random.below(500),
      ringBytes: 65_536,
      isResident: () => random.below(2) > 0,
    });
    expect(slow === null, about).toBe(refusal === null);
    if (refusal !== null) refused += 1;
    else if (!pack.equals(sample.pack) && ++taken <= 25) expect(await gitTakes(sample, pack), about).toBe(true);
  }
  expect(refused).toBeGreaterThan(80);
  expect(taken).toBeGreaterThan(0);
});
