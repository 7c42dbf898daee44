/** 300 MB through a front that ends bodies at 100 MB, as the platform's does: what a user sees of a
 * plain push, and that the remote helper brings it in. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findProblems } from "../harness/find-problems.ts";
import { startFrontProxy } from "../harness/front-proxy.ts";
import { git, listRefs, makeRepository, tryGit } from "../harness/git.ts";
import { Random } from "../harness/random.ts";
import { tryHelper } from "../harness/remote-helper.ts";
import { startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const FRONT_BYTES = 100_000_000;

test("300 MB: a plain push is refused by the front, and the helper's arrives whole", async () => {
  const origin = await makeRepository("origin");
  const random = new Random(3);
  for (const megabytes of [40, 160, 100]) {
    writeFileSync(join(origin, `${megabytes}.bin`), random.bytes(megabytes * 1_000_000));
    await git(origin, "add", ".");
    await git(origin, "-c", "core.compression=0", "commit", "-q", "-m", `${megabytes} MB`);
  }
  const server = await startServer();
  const proxy = await startFrontProxy(server.url, FRONT_BYTES);
  try {
    const plain = await tryGit(origin, ["push", `${proxy.url}/me/plain`, "main"]);
    // As docs/using.md tells it: git may be cut off before it reads why.
    expect(plain.stderr).toMatch(/error: RPC failed; (HTTP 413|curl 55 Send failure)/);
    expect(plain.stderr).toMatch(/the remote end hung up unexpectedly/);
    expect(plain.code).not.toBe(0);
    expect(await git(origin, "ls-remote", `${server.url}/me/plain`).catch(() => "")).toBe("");
    const helped = await tryHelper(origin, ["push", `holdfast::${proxy.url}/me/helped`, "main"]);
    expect(helped.code, helped.stderr).toBe(0);
    const sent = proxy.requests.filter(({ path }) => path.includes("me/helped")).map(({ sentBytes }) => sentBytes);
    expect(Math.max(...sent)).toBeLessThan(FRONT_BYTES);
    expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(300_000_000);
    const copy = join(makeTempDir("clone"), "copy.git");
    await git(origin, "clone", "-q", "--mirror", `${server.url}/me/helped`, copy);
    expect(await listRefs(copy)).toBe(await listRefs(origin));
    await git(copy, "fsck", "--full", "--strict");
    expect(await findProblems(`${server.url}/me/helped`)).toEqual([]);
  } finally {
    await proxy.close();
    await server.close();
  }
});
