/** Ways to damage a pack, and the indexer's error for one. */
import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { isGitError } from "../../../src/base/format/errors.ts";
import type { Random } from "../../harness/random.ts";
import { type Feeding, indexPack, TRAILER_BYTES } from "./indexed-pack.ts";
import type { SamplePack } from "./packs.ts";

/** Where each entry of a valid pack begins, and where its header ends. */
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
const DAMAGES: ((body: Buffer, random: Random, sample: SamplePack) => Buffer)[] = [
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
  /** The content is changed before it is compressed, so zlib's checksum is right. */
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

/** A damaged pack with a correct trailer. */
export function damagePack(sample: SamplePack, random: Random): { pack: Buffer; damage: string } {
  const damage = random.pick(DAMAGES);
  const body = damage(Buffer.from(sample.pack.subarray(0, -TRAILER_BYTES)), random, sample);
  return { pack: Buffer.concat([body, createHash("sha1").update(body).digest()]), damage: damage.name };
}

/** The indexer's error; null when it accepts the pack. */
export function refusalOf(pack: Uint8Array, feeding: Feeding): string | null {
  try {
    const { end } = indexPack(pack, feeding);
    return end === pack.length - TRAILER_BYTES ? null : "bytes follow the last entry";
  } catch (error) {
    if (isGitError(error)) return error.message;
    throw error;
  }
}
