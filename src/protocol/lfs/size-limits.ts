import type { LfsContext } from "./lfs-context.ts";

/** Why an object cannot be sent, and what to do about it; null: it can, through the Worker or to the
 * bucket itself. */
export function refuseSize(
  { maxBodyBytes, maxObjectBytes, signed }: Pick<LfsContext, "maxBodyBytes" | "maxObjectBytes" | "signed">,
  sizeBytes: number,
): string | null {
  if (sizeBytes > maxObjectBytes) return `the object has ${sizeBytes} bytes, and may have ${maxObjectBytes} here`;
  if (sizeBytes <= maxBodyBytes || signed !== null) return null;
  return `the object has ${sizeBytes} bytes, and a request to this server may have ${maxBodyBytes}: the operator can let clients send larger ones to the bucket itself (S3_ENDPOINT in docs/operations.md), or raise MAX_BODY_BYTES as far as the platform's plan allows`;
}
