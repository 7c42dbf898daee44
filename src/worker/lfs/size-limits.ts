import { MAX_LFS_PARTS, MAX_PUT_BYTES } from "../../base/format/limits.ts";
import type { LfsContext } from "./lfs-request.ts";

type Limits = Pick<LfsContext, "maxBodyBytes" | "maxObjectBytes" | "largestPartBytes" | "signed">;

/** Size in bytes of the largest object that a client can send in one request, through the Worker or
 * to the bucket directly. */
export function largestBasicBytes({ maxBodyBytes, maxObjectBytes, signed }: Limits): number {
  return Math.min(maxObjectBytes, MAX_PUT_BYTES, signed === null ? maxBodyBytes : Infinity);
}

/** Size in bytes of the largest object that a client can send in parts; 0: none. */
export function largestInParts({ maxObjectBytes, largestPartBytes }: Limits): number {
  return Math.min(maxObjectBytes, MAX_LFS_PARTS * largestPartBytes);
}

/** Advice for an object that is too large for one request. */
const IN_PARTS = "send it in parts: get the agent at /-/git-lfs-holdfast of this server, then git lfs-holdfast install";
const BY_OPERATOR =
  "the operator can let clients send larger ones to the bucket itself (S3_ENDPOINT in docs/operations.md), or raise MAX_BODY_BYTES as far as the platform's plan allows";

/** Says why an object cannot be sent, with advice; null: it can.
 * @param inParts whether its client can send it in parts */
export function refuseSize(limits: Limits, sizeBytes: number, inParts: boolean): string | null {
  const { maxObjectBytes, signed } = limits;
  const mostBytes = Math.max(largestBasicBytes(limits), inParts ? largestInParts(limits) : 0);
  if (sizeBytes <= mostBytes) return null;
  if (sizeBytes > maxObjectBytes) return `the object has ${sizeBytes} bytes, and may have ${maxObjectBytes} here`;
  const ways: string[] = [];
  if (!inParts && sizeBytes <= largestInParts(limits)) ways.push(IN_PARTS);
  if (signed === null && sizeBytes <= MAX_PUT_BYTES) ways.push(BY_OPERATOR);
  const wayOut = ways.length === 0 ? "" : `: ${ways.join("; or ")}`;
  return `the object has ${sizeBytes} bytes, and ${inParts ? "one" : "a request"} to this server may have ${mostBytes}${wayOut}`;
}
