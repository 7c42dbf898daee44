import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, tryGit } from "../../harness/git.ts";
import { makeOddRepository } from "../../harness/odd-tree.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

let server: Pick<Server, "url">;
let dir: string;

const large = new Uint8Array(9 * 1024 * 1024);

beforeAll(async () => {
  server = await shareServer("objects");
  dir = await makeOddRepository([
    {
      branch: "main",
      files: {
        "a.txt": "\ufeffä",
        "b.bin": Uint8Array.of(0, 255, 1),
        "c/d": "d",
        large,
        half: large.subarray(0, 2 ** 21),
      },
    },
  ]);
  await git(dir, "tag", "-a", "v1", "-m", "Version 1\n\nwith a body", "main");
  await git(dir, "push", "-q", `${server.url}/objects/repo.git`, "main", "v1");
  const hidden = await tryGit(dir, ["hash-object", "-w", "--stdin"], { stdin: "hidden" });
  expect(hidden.code).toBe(0);
});

const read = async <Body = unknown>(type: string, revision: string, init = {}) =>
  askApi<Body>(server, `/repos/objects/repo/git/${type}/${await git(dir, "rev-parse", revision)}`, init);

test("blobs are text where they are UTF-8, else base64", { tags: "sweep" }, async () => {
  expect((await read("blob", "main:a.txt")).body).toMatchObject({ size: 5, encoding: "utf-8", content: "\ufeffä" });
  expect((await read("blob", "main:b.bin")).body).toMatchObject({ size: 3, encoding: "base64", content: "AP8B" });
  const half = await read<{ content: string }>("blob", "main:half");
  expect(half.body.content).toBe("\0".repeat(2 ** 21));
  expect(await read("blob", "main:large")).toMatchObject({ status: 413, body: { error: { code: "too-large" } } });
});

test("trees, commits and tags are parsed", async () => {
  const tree = await read<{ entries: { mode: string; type: string; oid: string; name: string }[] }>("tree", "main:");
  const lines = tree.body.entries.map(({ mode, type, oid, name }) => `${mode} ${type} ${oid}\t${name}`);
  expect(lines.join("\n")).toBe(await git(dir, "ls-tree", "main"));
  const commit = await read("commit", "main");
  expect(commit.body).toEqual({
    oid: await git(dir, "rev-parse", "main"),
    tree: await git(dir, "rev-parse", "main:"),
    parents: [],
    author: { name: "Ada Example", email: "ada@example.com", date: "2023-11-14T23:13:20+01:00" },
    committer: { name: "Ada Example", email: "ada@example.com", date: "2023-11-14T23:13:20+01:00" },
    message: "Commit 0\n",
  });
  expect((await read("tag", "v1")).body).toEqual({
    oid: await git(dir, "rev-parse", "v1"),
    object: await git(dir, "rev-parse", "main"),
    type: "commit",
    name: "v1",
    tagger: { name: "Ada Example", email: "ada@example.com", date: "2023-11-14T23:13:20+01:00" },
    message: "Version 1\n\nwith a body\n",
  });
});

test("an object never changes", async () => {
  const { headers } = await read("commit", "main");
  expect(headers.get("Cache-Control")).toMatch(/immutable/);
  const again = await read("commit", "main", { headers: { "If-None-Match": headers.get("ETag")! } });
  expect(again.status).toBe(304);
});

test("another type, and what no ref leads to, are refused", async () => {
  expect(await read("blob", "main")).toMatchObject({ status: 422, body: { error: { code: "wrong-type" } } });
  expect(await read("commit", "main:")).toMatchObject({ status: 422 });
  expect(await read("tree", "main:a.txt")).toMatchObject({ status: 422 });
  const hidden = (await tryGit(dir, ["hash-object", "--stdin"], { stdin: "hidden" })).stdout.trim();
  expect(await askApi(server, `/repos/objects/repo/git/blob/${hidden}`)).toMatchObject({ status: 404 });
  expect(await askApi(server, "/repos/objects/repo/git/blob/abc")).toMatchObject({ status: 422 });
  expect(await askApi(server, `/repos/objects/repo/git/thing/${hidden}`)).toMatchObject({ status: 404 });
});
