// Names as long as git's fsck lets them be, in a tree that many directories repeat: a pack of a few
// kilobytes with 40 MB of paths. An object passes 32 MiB to the Worker in one call.
import { beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { sendPush } from "../harness/raw-push.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";

const NAME_BYTES = 4_080;
const DIRECTORIES = 500;
const FILES = 10;

const nameOf = (i: number): string => String(i).padStart(NAME_BYTES, "0");
const content = makeObject("blob", "content\n");
const directory = makeTree(...Array.from({ length: FILES }, (_, i) => ["100644", nameOf(i), content] as const));
const root = makeTree(...Array.from({ length: DIRECTORIES }, (_, i) => ["40000", nameOf(i), directory] as const));
const commit = makeCommit(root);

let server: Pick<Server, "url">;
beforeAll(async () => {
  server = await shareServer("long", { WORKTREES: "none" });
  const commands = [{ name: "refs/heads/main", new: commit.oid }];
  const pack = packOf(content, directory, root, commit);
  expect(pack.length).toBeLessThan(64 * 1024);
  expect(await sendPush(`${server.url}/long/names.git`, { commands, pack })).toMatchObject({ unpack: "ok" });
});

test("a list of files comes in pages that lack none", { tags: "sweep" }, async () => {
  const paths: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ""; cursor !== null; pages++) {
    const path: string = `/repos/long/names/files/all${cursor === "" ? "" : `?cursor=${cursor}`}`;
    const { status, body } = await askApi<{ files: { path: string }[]; nextCursor: string | null }>(server, path);
    expect(status).toBe(200);
    paths.push(...body.files.map((file) => file.path));
    cursor = body.nextCursor;
  }
  const expected = Array.from(
    { length: DIRECTORIES * FILES },
    (_, i) => `${nameOf(Math.floor(i / FILES))}/${nameOf(i % FILES)}`,
  );
  expect(paths.map(shorten)).toEqual(expected.map(shorten));
  // At most 4 MiB of paths each.
  expect(pages).toBeGreaterThan(9);
});

test("a search looks into every file", { tags: "sweep" }, async () => {
  let files = 0;
  for (let cursor: string | null = ""; cursor !== null;) {
    const path: string = `/repos/long/names/grep?pattern=nothing${cursor === "" ? "" : `&cursor=${cursor}`}`;
    type Answer = { searched: { files: number }; nextCursor: string | null };
    const { status, body } = await askApi<Answer>(server, path);
    expect(status).toBe(200);
    files += body.searched.files;
    cursor = body.nextCursor;
  }
  expect(files).toBe(DIRECTORIES * FILES);
});

test("an archive has every file", { tags: "sweep" }, async () => {
  const response = await fetch(`${server.url}/api/repos/long/names/archive/main.tar`);
  expect(response.status).toBe(200);
  const tar = Buffer.from(await response.arrayBuffer());
  let found = 0;
  for (let at = tar.indexOf("content\n"); at >= 0; at = tar.indexOf("content\n", at + 1)) found++;
  expect(found).toBe(DIRECTORIES * FILES);
});

/** Both numbers of a path. */
function shorten(path: string): string {
  return path.replaceAll(/(^|\/)0+(?=\d)/g, "$1");
}
