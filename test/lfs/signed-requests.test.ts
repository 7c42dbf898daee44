/** Objects that clients send to the bucket and read from it themselves, by signed requests: the
 * real client of Git LFS, and requests that go wrong, against a real S3 server. That R2 checks
 * signatures, their time and checksums in the same way is not shown here, nor that its binding
 * tells a checksum that its S3 API was given. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { makeRepository, tryGit } from "../harness/git.ts";
import { type ActionBody, type ClientObject, LfsClient, objectOf } from "../harness/lfs.ts";
import { setUpLfs } from "../harness/lfs-tools.ts";
import { type S3Server, startS3 } from "../harness/s3-server.ts";
import { type Server, type ServerOptions, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const MAX_BODY_BYTES = 1_500_000;

let s3: S3Server;
let server: Server;

beforeAll(async () => {
  s3 = await startS3();
  server = await start();
});
afterAll(async () => {
  await server?.close();
  await s3?.close();
});

const start = (options: ServerOptions = {}): Promise<Server> =>
  startServer({ s3, ...options, vars: { MAX_BODY_BYTES: String(MAX_BODY_BYTES), ...options.vars } });

async function makeAt(name: string, at = server): Promise<LfsClient> {
  const [owner, repository] = name.split("/");
  expect((await askApi(at, "/repos", { method: "POST", json: { owner, name: repository } })).status).toBe(201);
  return new LfsClient(`${at.url}/${name}.git`);
}

/** What the client must do for an object that it wants to send. */
async function begin(lfs: LfsClient, object: ClientObject): Promise<{ upload: ActionBody; verify: ActionBody }> {
  const { body } = await lfs.batch("upload", [object]);
  return body.objects[0]!.actions as unknown as { upload: ActionBody; verify: ActionBody };
}

async function put({ href, header }: ActionBody, bytes: Buffer, more: Record<string, string> = {}): Promise<number> {
  const response = await fetch(href, { method: "PUT", headers: { ...header, ...more }, body: new Uint8Array(bytes) });
  await response.arrayBuffer();
  return response.status;
}

async function verify({ href, header }: ActionBody, { oid, size }: ClientObject): Promise<[number, string]> {
  const body = JSON.stringify({ oid, size });
  const response = await fetch(href, { method: "POST", headers: header, body });
  return [response.status, ((await response.json()) as { message?: string }).message ?? ""];
}

/** The files of the S3 server's bucket that belong to an object. */
async function filesOf({ oid }: ClientObject): Promise<string[]> {
  const paths = await readdir(s3.dir, { recursive: true });
  return paths.filter((path) => path.includes(oid)).map((path) => join(s3.dir, path));
}

test("large objects go to the bucket and come from there, by git push and clone", async () => {
  const env = await setUpLfs(makeTempDir("home"));
  const run = async (dir: string, ...args: string[]): Promise<void> => {
    const { code, stderr } = await tryGit(dir, args, { env });
    expect(code, `git ${args.join(" ")}: ${stderr}`).toBe(0);
  };
  const files = {
    "large.bin": randomBytes(9_000_000),
    "middle.bin": randomBytes(1_400_000),
    "small.bin": randomBytes(9),
  };
  const dir = await makeRepository("signed");
  await run(dir, "lfs", "track", "*.bin");
  for (const [path, bytes] of Object.entries(files)) writeFileSync(join(dir, path), bytes);
  await run(dir, "add", ".");
  await run(dir, "commit", "-q", "-m", "files");
  await run(dir, "push", "-q", `${server.url}/signed/client.git`, "HEAD:refs/heads/main");
  const copy = join(makeTempDir("clone"), "c");
  await run(dir, "clone", "-q", `${server.url}/signed/client`, copy);
  for (const [path, bytes] of Object.entries(files)) expect(readFileSync(join(copy, path)).equals(bytes)).toBe(true);

  // What passed through the Worker: both smaller ones up, the smallest one down.
  const passed = (method: string) =>
    server.requests.filter(
      (one) => one.method === method && /\/client(\.git)?\/info\/lfs\/objects\/\w{64}$/.test(one.path),
    );
  expect([passed("PUT").length, passed("GET").length]).toEqual([2, 1]);
  expect(await findProblems(`${server.url}/signed/client`)).toEqual([]);
});

test("the bucket refuses other bytes, other checksums, and a second upload", async () => {
  const lfs = await makeAt("signed/refused");
  const object = objectOf(randomBytes(2_000_000));
  const { upload, verify: verification } = await begin(lfs, object);
  expect(upload.expires_in).toBe(3_600);
  expect(await verify(verification, object)).toEqual([422, expect.stringContaining("has not come yet")]);

  const other = objectOf(randomBytes(2_000_000));
  const checksumOf = ({ oid }: ClientObject) => Buffer.from(oid, "hex").toString("base64");
  expect(await put(upload, other.bytes)).toBe(400);
  expect(await put(upload, object.bytes.subarray(1))).toBe(400);
  expect(await put(upload, other.bytes, { "x-amz-checksum-sha256": checksumOf(other) })).toBe(403);
  expect(await put({ ...upload, header: {} }, object.bytes)).toBe(403);
  expect(await put({ ...upload, href: upload.href.replace(object.oid, other.oid) }, object.bytes)).toBe(403);
  expect(await filesOf(object)).toEqual([]);
  expect((await lfs.get(object.oid)).status).toBe(404);

  expect(await put(upload, object.bytes)).toBe(200);
  // It is in the bucket, but nobody sees it before the client says so.
  expect((await lfs.get(object.oid)).status).toBe(404);
  expect((await lfs.batch("download", [object])).body.objects[0]!.error!.code).toBe(404);
  expect((await verify(verification, { ...object, size: 1_999_999 }))[0]).toBe(422);
  expect((await verify({ ...verification, href: verification.href.replace(/=.*/, "=00000000") }, object))[0]).toBe(404);
  for (let times = 0; times < 2; times++) expect(await verify(verification, object)).toEqual([200, ""]);
  expect(await put(upload, object.bytes)).toBe(412);

  const { body } = await lfs.batch("download", [object]);
  const { href, header } = body.objects[0]!.actions!["download"]!;
  expect(href.startsWith(s3.endpoint)).toBe(true);
  const range = await fetch(href, { headers: { ...header, Range: "bytes=1999990-" } });
  expect([range.status, Buffer.from(await range.arrayBuffer()).equals(object.bytes.subarray(1_999_990))]).toEqual([
    206,
    true,
  ]);
  expect((await fetch(href, { method: "PUT", body: "other" })).status).toBe(403);
  expect((await fetch(href, { method: "DELETE" })).status).toBe(403);
  expect(await findProblems(`${server.url}/signed/refused`)).toEqual([]);
});

test("requests are signed for a time", async () => {
  const hurried = await start({ constants: { SIGNED_LIFE_S: 1 } });
  try {
    const lfs = await makeAt("signed/expired", hurried);
    const [sent, late] = [objectOf(randomBytes(2_000_000)), objectOf(randomBytes(2_000_000))];
    const actions = await begin(lfs, sent);
    expect(await put(actions.upload, sent.bytes)).toBe(200);
    expect(await verify(actions.verify, sent)).toEqual([200, ""]);
    const { upload } = await begin(lfs, late);
    const download = (await lfs.batch("download", [sent])).body.objects[0]!.actions!["download"]!;
    await sleep(2_100);
    expect(await put(upload, late.bytes)).toBe(403);
    expect((await fetch(download.href)).status).toBe(403);
    expect(await filesOf(late)).toEqual([]);
  } finally {
    await hurried.close();
  }
});

test("where a bucket tells no checksum, the bytes are read before they can be seen", async () => {
  const lfs = await makeAt("signed/unchecked");
  const object = objectOf(randomBytes(9_000_000));
  const { upload, verify: verification } = await begin(lfs, object);
  // A file that the S3 server did not write: it knows no checksum of it.
  const path = join(s3.dir, new URL(upload.href).pathname.split("/").slice(2).join("/"));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, randomBytes(9_000_000));
  expect(await verify(verification, object)).toEqual([422, expect.stringContaining("the object's SHA-256 is")]);
  expect((await lfs.get(object.oid)).status).toBe(404);
  await writeFile(path, object.bytes);
  expect(await verify(verification, object)).toEqual([200, ""]);
  expect(objectOf(Buffer.from(await (await lfs.get(object.oid)).arrayBuffer())).oid).toBe(object.oid);
});

test("uploads that are given up leave nothing, and count against no quota", async () => {
  const hurried = await start({ constants: { SIGNED_LIFE_S: 1, MIN_LFS_WAIT_MS: 1, MIN_LFS_BYTES_PER_SECOND: 1e9 } });
  try {
    const lfs = await makeAt("signed/given-up", hurried);
    const object = objectOf(randomBytes(2_000_000));
    const { upload } = await begin(lfs, object);
    expect(await put(upload, object.bytes)).toBe(200);
    expect(await filesOf(object)).toHaveLength(1);
    for (let tries = 0; (await filesOf(object)).length > 0; tries++) {
      expect(tries).toBeLessThan(100);
      await sleep(100);
    }
    expect((await askApi(hurried, "/repos/signed/given-up/lfs")).body).toMatchObject({ objects: 0, sizeBytes: 0 });
  } finally {
    await hurried.close();
  }
});

test("an object beyond the quota, or of more bytes than the bucket takes, is refused before it is sent", async () => {
  const small = await start({
    vars: { LIMITS: JSON.stringify({ maxLfsObjectBytes: 3_000_000, maxRepositoryBytes: 2_500_000 }) },
  });
  try {
    const lfs = await makeAt("signed/limits", small);
    const tooLarge = await lfs.batch("upload", [{ oid: "ab".repeat(32), size: 3_000_001 }]);
    expect(tooLarge.body.objects[0]!.error).toEqual({
      code: 422,
      message: "the object has 3000001 bytes, and may have 3000000 here",
    });
    expect((await lfs.batch("upload", [{ oid: "ab".repeat(32), size: 2_600_000 }])).status).toBe(507);
    const [first, second] = [objectOf(randomBytes(2_000_000)), objectOf(randomBytes(2_000_000))];
    const begun = [await begin(lfs, first), await begin(lfs, second)] as const;
    for (const [i, object] of [first, second].entries()) expect(await put(begun[i]!.upload, object.bytes)).toBe(200);
    expect(await verify(begun[0].verify, first)).toEqual([200, ""]);
    expect((await verify(begun[1].verify, second))[0]).toBe(413);
    expect((await lfs.get(second.oid)).status).toBe(404);
  } finally {
    await small.close();
  }
});

test("with only some of the settings, nothing is served", async () => {
  const half = await start({ vars: { S3_SECRET_ACCESS_KEY: "" } });
  try {
    const response = await fetch(`${half.url}/signed/half.git/info/lfs/objects/batch`, { method: "POST", body: "{}" });
    expect(response.status).toBe(500);
  } finally {
    await half.close();
  }
});
