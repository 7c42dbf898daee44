import { createHash, randomBytes, randomFillSync } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { git, makeRepository } from "../harness/git.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { checkRoundTrip } from "./round-trip.ts";

const MB = 1_000_000;

/** Files of random bytes, which do not compress, in one commit. */
async function makeNoise(sizesBytes: readonly number[]): Promise<string> {
  const dir = await makeRepository("noise");
  const noise = new Uint8Array(Math.max(...sizesBytes));
  sizesBytes.forEach((size, i) => writeFileSync(join(dir, `noise-${i}`), randomFillSync(noise).subarray(0, size)));
  // At this level git stores them uncompressed.
  await git(dir, "-c", "core.compression=0", "add", ".");
  await git(dir, "commit", "-q", "-m", "noise");
  return dir;
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

test("a blob of 200 MB", async () => {
  const origin = await makeNoise([200 * MB]);
  const mirror = await checkRoundTrip("a blob of 200 MB", origin);
  const worktree = join(makeTempDir("worktree"), "clone");
  await git(makeTempDir("cwd"), "clone", "-q", mirror, worktree);
  expect(await hashFile(join(worktree, "noise-0"))).toBe(await hashFile(join(origin, "noise-0")));
});

test("a pack of more than 300 MB: blobs of 8, 18 and 30 MB among 30,000 small ones", async () => {
  const sizes = [8, 18, 30, 8, 18, 30].map((size) => size * MB);
  sizes.push(...Array.from({ length: 30_000 }, (_, i) => 1 + ((i * 7_919) % 14_000)));
  const origin = await makeNoise(sizes);
  await checkRoundTrip("a pack of more than 300 MB", origin);
});

test("a blob of 200 MB that compresses to half", async () => {
  const dir = await makeRepository("digits");
  writeFileSync(join(dir, "digits"), randomBytes(100 * MB).toString("hex"));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "digits");
  await checkRoundTrip("a blob of 200 MB that compresses to half", dir);
});
