/** A server whose whole bucket is in an S3 server, as in tests of how long its answers take. */
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { git } from "../harness/git.ts";
import { objectOf, LfsClient } from "../harness/lfs.ts";
import { makeOddRepository } from "../harness/odd-tree.ts";
import { startS3 } from "../harness/s3-server.ts";
import { startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const MIB = 1024 * 1024;

test("a bucket in an S3 server takes all that the Worker stores", async () => {
  const s3 = await startS3();
  const server = await startServer({ s3, s3Holds: "all", constants: { MAX_PUT_BYTES: 5 * MIB } });
  const listFiles = async (): Promise<string[]> => {
    const files = await readdir(s3.dir, { recursive: true, withFileTypes: true });
    return files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  };
  try {
    const url = `${server.url}/me/repo`;
    const large = randomBytes(9 * MIB + 5);
    // Of more than 8 MiB: a chunk, and a worktree's file, in parts.
    const files = { "large.bin": large, "src/ä & 'b'+%.txt": "odd", empty: "", "c.bin": randomBytes(MIB) };
    const dir = await makeOddRepository([{ branch: "main", files }]);
    await git(dir, "push", "-q", url, "main");
    const operations = [{ op: "put", path: "made.txt", content: "made" }];
    const author = { name: "Ada Example", email: "ada@example.com" };
    const json = { branch: "main", message: "made", author, operations };
    expect((await askApi(server, "/repos/me/repo/commits", { method: "POST", json })).status).toBe(201);
    const lfs = new LfsClient(`${url}.git`);
    const object = objectOf(randomBytes(MIB));
    expect((await lfs.put(object)).status).toBe(200);
    expect(Buffer.compare(Buffer.from(await (await lfs.get(object.oid)).arrayBuffer()), object.bytes)).toBe(0);

    const copy = join(makeTempDir("clone"), "c");
    await git(".", "clone", "-q", url, copy);
    expect(await git(copy, "fsck", "--full")).toBe("");
    expect((await askApi(server, "/repos/me/repo/maintenance", { method: "POST" })).status).toBe(200);
    expect((await listFiles()).filter((path) => path.includes("/worktrees/main/"))).toHaveLength(5);
    for (const [path, content] of Object.entries({ ...files, "made.txt": "made" })) {
      const response = await fetch(`${server.url}/api/repos/me/repo/raw/main/${encodeURIComponent(path)}`);
      expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), Buffer.from(content)), path).toBe(0);
    }
    expect(await findProblems(url)).toEqual([]);
    expect(await server.readObjects("")).toEqual(new Map());

    expect((await askApi(server, "/repos/me/repo", { method: "DELETE" })).status).toBe(204);
    await expect.poll(listFiles).toEqual([]);
  } finally {
    await server.close();
    await s3.close();
  }
});
