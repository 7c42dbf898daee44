import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { once } from "node:events";
import { Random } from "../harness/random.ts";

const PIECE_BYTES = 64 * 1024 * 1024;

/** Writes a file that does not compress, a multiple of 64 MiB long. @returns its SHA-256 */
export async function writeLarge(path: string, sizeBytes: number): Promise<string> {
  const hash = createHash("sha256");
  const file = createWriteStream(path);
  const piece = Buffer.from(new Random(3).bytes(PIECE_BYTES));
  for (let at = 0; at < sizeBytes; at += PIECE_BYTES) {
    // No two pieces are equal.
    piece.writeDoubleBE(at);
    hash.update(piece);
    if (!file.write(Buffer.from(piece))) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
  return hash.digest("hex");
}

/** The SHA-256 of a file. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest("hex");
}
