/** Files that are pointers of Git LFS, in lists and archives. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { LfsClient, objectOf, pointerOf } from "../../harness/lfs.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { testSome } from "../../harness/sweep.ts";

const run = promisify(execFile);

const large = objectOf(randomBytes(3_000_000));
const small = objectOf(Buffer.from("line\n".repeat(1_000)));
const empty = objectOf("");
const missing = objectOf("missing");

let server: Pick<Server, "url">;
let dir: string;

beforeAll(async () => {
  server = await shareServer("lfsfiles");
  dir = await makeRepository("lfsfiles");
  mkdirSync(join(dir, "sub"));
  const files = { "large.bin": pointerOf(large), "sub/small.txt": pointerOf(small), "empty.bin": pointerOf(empty) };
  for (const [path, text] of Object.entries({ ...files, "plain.txt": "plain\n", ".gitattributes": "*.txt eol=crlf\n" }))
    writeFileSync(join(dir, path), text);
  chmodSync(join(dir, "large.bin"), 0o755);
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "pointers");
  await new LfsClient(`${server.url}/lfsfiles/repo.git`).upload([large, small, empty]);
  await git(dir, "push", "-q", `${server.url}/lfsfiles/repo`, "HEAD:main");
  writeFileSync(join(dir, "missing.bin"), pointerOf(missing));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "more");
  await git(dir, "push", "-q", "-o", "lfs=allow-missing", `${server.url}/lfsfiles/repo`, "HEAD:lacking");
});

const fetchArchive = (path: string) => fetch(`${server.url}/api/repos/lfsfiles/repo/archive/${path}`);

/** Unpacks an archive. @returns the folder */
async function unpack(name: string, query: string): Promise<string> {
  const response = await fetchArchive(`${name}?${query}`);
  expect(response.status).toBe(200);
  const folder = makeTempDir("unpacked");
  const file = join(folder, name);
  writeFileSync(file, Buffer.from(await response.arrayBuffer()));
  if (name.endsWith(".zip")) await run("python3", ["-m", "zipfile", "-e", file, folder]);
  else await run("tar", ["xf", file, "-C", folder]);
  return folder;
}

testSome(
  1,
  ["main.tar", "main.tar.gz", "main.zip"],
  "%s has the content of LFS objects, if asked for",
  async (name) => {
    const followed = await unpack(name, "lfs=true");
    for (const [path, { bytes }] of Object.entries({ "large.bin": large, "sub/small.txt": small, "empty.bin": empty }))
      expect(readFileSync(join(followed, path)).equals(bytes), path).toBe(true);
    // Pointers and the contents of LFS are sent as they are; other texts as git converts them.
    expect(readFileSync(join(followed, "plain.txt"), "utf8")).toBe("plain\r\n");
    const bare = await unpack(name, "");
    expect(readFileSync(join(bare, "large.bin"), "utf8")).toBe(pointerOf(large));
  },
);

test("an archive's tag tells whether pointers are followed, and one whose objects are missing is refused", async () => {
  const [bare, followed] = [await fetchArchive("main.tar"), await fetchArchive("main.tar?lfs=true")];
  await Promise.all([bare, followed].map((response) => response.arrayBuffer()));
  expect(followed.headers.get("ETag")).not.toBe(bare.headers.get("ETag"));
  expect((await fetchArchive("lacking.tar")).status).toBe(200);
  for (const format of ["tar", "tar.gz", "zip"]) {
    const refused = await fetchArchive(`lacking.${format}?lfs=true`);
    expect([refused.status, await refused.text()]).toEqual([
      404,
      expect.stringContaining(`missing.bin names ${missing.oid}`),
    ]);
  }
  expect((await fetchArchive("lacking.tar?lfs=true&path=sub")).status).toBe(200);
});

test("lists say which files are pointers, if asked for", async () => {
  interface Entry {
    readonly path: string;
    readonly size: number | null;
    readonly lfs?: { readonly oid: string; readonly size: number } | null;
  }
  const ask = async (path: string) => {
    const { body } = await askApi<{ entries: Entry[]; files: Entry[] }>(server, `/repos/lfsfiles/repo/${path}`);
    return body.entries ?? body.files;
  };
  const shown = ({ oid, size }: typeof large) => ({ oid, size });
  const named = (entries: readonly Entry[]) => Object.fromEntries(entries.map(({ path, lfs }) => [path, lfs]));
  expect(named(await ask("files?ref=lacking&lfs=true"))).toEqual({
    ".gitattributes": null,
    "empty.bin": shown(empty),
    "large.bin": shown(large),
    "missing.bin": shown(missing),
    "plain.txt": null,
    sub: null,
  });
  expect(named(await ask("files/all?lfs=true&path=sub"))).toEqual({ "sub/small.txt": shown(small) });
  const [first] = await ask("files/all?limit=1&lfs=true");
  expect(first).toMatchObject({ path: ".gitattributes", lfs: null });
  for (const list of ["files", "files/all"])
    for (const entry of await ask(list)) expect(Object.keys(entry)).not.toContain("lfs");
});
