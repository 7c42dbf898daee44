/** A real S3 server on this machine: Versity S3 Gateway, which keeps objects as files. It checks
 * signatures, their time, and checksums. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { S3Bucket } from "../../src/base/chunks/signed-requests.ts";
import { buildGoTools } from "./go-tools.ts";
import { findFreePort } from "./server.ts";
import { makeTempDir } from "./temp-dir.ts";

const VERSION = "v1.8.0";
const COMMANDS = ["github.com/versity/versitygw/cmd/versitygw"];

/** A running S3 server with one bucket. */
export interface S3Server extends S3Bucket {
  /** Where the bucket's objects are: a file for each, at its key. */
  readonly dir: string;
  /** Its process. */
  readonly pid: number;
  close(): Promise<void>;
}

/** Builds the server if need be, and starts it on a free loopback port.
 * @throws Error if it cannot be built, or does not answer */
export async function startS3(): Promise<S3Server> {
  const command = join(await buildGoTools("versitygw", VERSION, COMMANDS), "versitygw");
  const port = await findFreePort();
  const root = makeTempDir("s3");
  const bucket = "lfs-objects";
  const [dir, metadata] = [join(root, "buckets", bucket), join(root, "metadata")];
  for (const path of [dir, metadata]) await mkdir(path, { recursive: true });
  const s3 = { endpoint: `http://127.0.0.1:${port}`, bucket, accessKeyId: "test", secretAccessKey: "test-secret" };
  const options = ["--port", `127.0.0.1:${port}`, "--region", "auto", "--quiet", "--keep-alive"];
  // Not every file system of a test has extended attributes.
  const child = spawn(command, [...options, "posix", "--sidecar", metadata, join(root, "buckets")], {
    env: { ...process.env, ROOT_ACCESS_KEY: s3.accessKeyId, ROOT_SECRET_KEY: s3.secretAccessKey },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  for (let tries = 0; !(await answers(s3.endpoint)); tries++) {
    if (tries > 100 || child.exitCode !== null) throw new Error("the S3 server does not answer");
    await sleep(100);
  }
  return {
    ...s3,
    dir,
    pid: child.pid!,
    async close() {
      child.kill();
      await ended;
    },
  };
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}
