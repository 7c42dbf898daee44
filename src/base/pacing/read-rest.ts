import { MIN_BODY_BYTES } from "../format/limits.ts";
import { PacedBody } from "./paced-body.ts";

/** A client that sends nothing for so long (ms) waits for its answer. */
const SILENCE_MS = 2_000;

/** Reads what nobody has read of a request's body, once its answer is known: a client that still
 * sends may not read the answer. A body that began to be read, that is larger than the limit or
 * does not say its length, or that does not come, is left as it is.
 * @param largestBytes of a body that is read */
export async function readRest({ body, headers }: Request, largestBytes: number): Promise<void> {
  if (body === null || body.locked || Number(headers.get("Content-Length") ?? Infinity) > largestBytes) return;
  const rest = new PacedBody(body, () => 0, MIN_BODY_BYTES, SILENCE_MS);
  try {
    while ((await rest.read()) !== null);
  } catch {
    // The answer is what counts.
  }
}
