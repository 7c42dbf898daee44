// A disk without space. Nothing is acknowledged that was not stored, and the client learns the
// reason within half a minute. When there is space again, everything works without a restart.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { git, type GitResult, makeRepository, tryGit } from "../harness/git.ts";
import { startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** Mounting needs root, or sudo without a password. */
const AS_ROOT = process.getuid?.() === 0 ? [] : ["sudo", "-n"];

function asRoot(...command: string[]): void {
  const [program, ...args] = [...AS_ROOT, ...command];
  execFileSync(program!, args);
}

/** Makes a small disk. It is not below the run's folder, which is removed as a whole.
 * @throws Error when this user may not mount */
function mountDisk(mebibytes: number): string {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-disk-"));
  asRoot("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m,mode=777`, "tmpfs", dir);
  return dir;
}

/** Fills a disk except for so many bytes.
 * @returns the file that fills it */
function fill(dir: string, exceptBytes: number): string {
  const { bavail, bsize } = statfsSync(dir);
  const file = join(dir, "filler");
  writeFileSync(file, Buffer.alloc(bavail * bsize - exceptBytes));
  return file;
}

async function makeHistory(sizeBytes: number): Promise<string> {
  const dir = await makeRepository("source");
  writeFileSync(join(dir, "file"), randomBytes(sizeBytes));
  await git(dir, "add", ".");
  await git(dir, "commit", "-qm", "A file");
  return dir;
}

const dir = mountDisk(40);
afterAll(() => {
  asRoot("umount", dir);
  rmSync(dir, { recursive: true });
});

test("a disk that fills up, and has space again", { timeout: 240_000, tags: "sweep" }, async () => {
  // A tenth of the usual time for an operation of the bucket: a local bucket on a full disk never
  // answers.
  const constants = { STORE_WAIT_MS: 2_000, STORE_BYTES_PER_SECOND: 10_000_000 };
  const server = await startServer({ persistDir: join(dir, "data"), constants });
  try {
    const [small, large] = [await makeHistory(100_000), await makeHistory(8_000_000)];
    const push = (source: string, name: string, ref: string): Promise<GitResult> =>
      tryGit(source, ["push", `${server.url}/me/${name}.git`, `HEAD:refs/heads/${ref}`]);
    const create = (name: string): Promise<Response> =>
      fetch(`${server.url}/api/repos`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ owner: "me", name }),
      });
    expect((await push(small, "there", "main")).code).toBe(0);

    // Rows still fit; chunks do not.
    const filler = fill(dir, 2_000_000);
    const startMs = performance.now();
    const refused = await push(large, "there", "large");
    expect(refused.stderr).toMatch(/storage is full or unavailable/);
    expect(refused.code).toBe(1);
    expect(performance.now() - startMs).toBeLessThan(60_000);
    rmSync(filler);

    for (const [source, name, ref] of [
      [large, "there", "large"],
      [small, "there", "other"],
      [small, "new", "main"],
    ] as const)
      expect((await push(source, name, ref)).stderr).toContain("[new branch]");
    expect((await create("notes")).status).toBe(201);
    const clone = join(makeTempDir("clone"), "clone.git");
    await git(makeTempDir("cwd"), "clone", "-q", "--mirror", `${server.url}/me/there.git`, clone);
    expect(await git(clone, "fsck", "--strict", "--full")).toBe("");
    expect((await git(clone, "for-each-ref", "--format=%(refname)")).split("\n")).toEqual([
      "refs/heads/large",
      "refs/heads/main",
      "refs/heads/other",
    ]);
  } finally {
    await server.close();
  }
});
