import { createHash } from "node:crypto";
import { nameOf } from "../../base/access/caller.ts";
import { type ProtectedRefs, RefRules } from "../../base/access/ref-rules.ts";
import { isNullOid, type Oid, toHex } from "../../base/format/oid.ts";
import { PACK_HEADER_BYTES, PACK_TRAILER_BYTES } from "../../base/format/pack.ts";
import type { NewPush, PushedRef } from "../store/refs/push-log.ts";
import type { WrittenChunk } from "./chunk-writer.ts";
import type { PushStep } from "../state/push.ts";
import type { PushedObjects } from "./pushed-objects.ts";

/** Splits inline chunks where a step ends, so that each step has chunks of its own, as pushes have;
 * maintenance counts them. */
export function splitAtSteps(chunks: readonly WrittenChunk[], steps: readonly PushStep[]): WrittenChunk[] {
  return chunks.flatMap((chunk) => (chunk.bytes === null ? [chunk] : [...splitChunk(chunk, chunk.bytes, steps)]));
}

function* splitChunk({ packOffset }: WrittenChunk, bytes: Uint8Array, steps: readonly PushStep[]) {
  let from = 0;
  const ends = steps.map(({ packEnd }) => packEnd - packOffset).filter((end) => end > 0 && end < bytes.length);
  for (const end of [...ends, bytes.length]) {
    // A step may have no objects.
    if (end === from) continue;
    const own = bytes.slice(from, end);
    const checksum = new Uint8Array(createHash("sha1").update(own).digest());
    yield { key: null, bytes: own, packOffset: packOffset + from, sizeBytes: own.length, checksum };
    from = end;
  }
}

/** Why the rules for refs forbid one of the steps, each of which is a fast-forward; null: they do
 * not.
 * @param name of the ref, byte string */
export function refuseSteps(rules: readonly ProtectedRefs[], name: string, steps: readonly PushStep[]): string | null {
  for (const { requester, old } of steps) {
    const kind = isNullOid(old) ? "creation" : "move";
    const reason = new RefRules(rules, requester).refuse({ name, kind, isForward: () => true });
    if (reason !== null) return reason;
  }
  return null;
}

/** Bytes of the pack that one of the steps would have had alone. */
export function packBytesOf(steps: readonly Pick<PushStep, "packEnd">[], i: number): number {
  const start = steps[i - 1]?.packEnd ?? PACK_HEADER_BYTES;
  return PACK_HEADER_BYTES + steps[i]!.packEnd - start + PACK_TRAILER_BYTES;
}

/** The reflog's entries for the steps, as if each were a push of its own.
 * @param name of the ref that they move, byte string */
export function listSteps(
  name: string,
  steps: readonly PushStep[],
  { freshCount, index }: PushedObjects,
  timeMs: number,
): NewPush[] {
  let counted = 0;
  return steps.map((step, i) => {
    const packBytes = packBytesOf(steps, i);
    const first = counted;
    while (counted < freshCount && index.offset(index.fresh(counted)) < step.packEnd) counted++;
    const refs: PushedRef[] = [[name, hexOf(step.old), hexOf(step.new)]];
    return { timeMs, who: nameOf(step.requester.caller), refs, packBytes, objects: counted - first };
  });
}

function hexOf(oid: Oid): string | null {
  return isNullOid(oid) ? null : toHex(oid);
}
