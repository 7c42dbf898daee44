import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { makeOddRepository } from "../../harness/odd-tree.ts";
import { type Server, startServer } from "../../harness/server.ts";

interface Entry {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  readonly mode: string;
  readonly oid: string;
  readonly size: number | null;
  readonly lastCommit?: string | null;
}

interface Directory {
  readonly commit: string;
  readonly tree: string;
  readonly entries: Entry[];
  readonly commits: { readonly oid: string; readonly message: string }[];
  readonly truncated: boolean;
}

interface Files {
  readonly commit: string;
  readonly files: Entry[];
  readonly nextCursor: string | null;
}

let server: Server;
let history: string;
let odd: string;

beforeAll(async () => {
  server = await startServer();
  history = await makeHistory({ commits: 60, files: 80, branches: 6, merges: 5, upheavals: 12 });
  odd = await makeOddRepository([
    {
      branch: "main",
      files: {
        "a.txt": "a",
        "a/b.txt": "b",
        "a-b/c.txt": "c",
        "a/link": { mode: "120000", content: "b.txt" },
        "run.sh": { mode: "100755", content: "#!/bin/sh\n" },
        sub: { gitlink: "1234567890123456789012345678901234567890" },
        '"\\303\\244 \\n\\"x"': "odd",
        '"\\377"': "no UTF-8",
        "deep/er/and/deeper/file": "far down",
        "deep/empty": "",
      },
    },
    { branch: "other", files: { "a.txt": null, "a.txt/now/a/folder": "x" } },
  ]);
  await git(history, "push", "-q", "--mirror", `${server.url}/me/history.git`);
  await git(odd, "push", "-q", "--mirror", `${server.url}/me/odd.git`);
  server.takeEvents();
});

afterAll(() => server.close());

/** `ls-tree` in the format of the API. Both show names that are not UTF-8 with U+FFFD. */
async function listTree(dir: string, ...args: string[]): Promise<Omit<Entry, "name" | "type">[]> {
  const { stdout } = await tryGit(dir, ["ls-tree", "-z", "-l", "--full-tree", ...args]);
  return stdout
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => {
      const [, mode, oid, size, path] = /^(\d+) \w+ (\w+) +(\S+)\t([^]*)$/.exec(line)!;
      return { path: path!, mode: mode!, oid: oid!, size: size === "-" ? null : Number(size) };
    });
}

const known = ({ path, mode, oid, size }: Entry): Omit<Entry, "name" | "type"> => ({ path, mode, oid, size });

test.each(["", "a", "deep", "deep/er/and"])("a directory is what ls-tree says: '%s'", async (path) => {
  const { status, body } = await askApi<Directory>(server, `/repos/me/odd/files?path=${path}`);
  expect(status).toBe(200);
  expect(body.entries.map(known)).toEqual(await listTree(odd, "main", ...(path === "" ? [] : [`${path}/`])));
  expect(body.commit).toBe(await git(odd, "rev-parse", "main"));
  expect(body.tree).toBe(await git(odd, "rev-parse", `main:${path}`));
  for (const entry of body.entries) expect(entry.path).toBe(path === "" ? entry.name : `${path}/${entry.name}`);
});

test("types are told from modes", async () => {
  const { body } = await askApi<Directory>(server, "/repos/me/odd/files?ref=other");
  const types = Object.fromEntries(body.entries.map(({ name, type }) => [name, type]));
  expect(types).toMatchObject({ "a.txt": "dir", sub: "submodule", "run.sh": "file", a: "dir" });
  const below = await askApi<Directory>(server, "/repos/me/odd/files?path=/a/");
  expect(below.body.entries.find(({ name }) => name === "link")).toMatchObject({ type: "symlink", size: 5 });
});

test("what is no directory is said", async () => {
  const ask = (query: string) => askApi(server, `/repos/me/odd/files?${query}`);
  expect(await ask("path=a.txt")).toMatchObject({ status: 422, body: { error: { code: "wrong-type" } } });
  expect(await ask("path=sub")).toMatchObject({ status: 422, body: { error: { code: "wrong-type" } } });
  expect(await ask("path=a.txt/x")).toMatchObject({ status: 404 });
  expect(await ask("path=a/../a.txt")).toMatchObject({ status: 404 });
  expect(await ask("ref=nothing")).toMatchObject({ status: 404 });
  expect(await ask("path=%00")).toMatchObject({ status: 422, body: { error: { field: "path" } } });
});

test("a listing reads trees and rows, and no blob", async () => {
  server.takeEvents();
  // The first call computes what refs reach.
  for (let time = 0; time < 2; time++) await askApi(server, "/repos/me/history/files?path=dir-0");
  await server.takeEvent("call");
  const { operations } = await server.takeEvent("call");
  const entries = (await git(history, "ls-tree", "main", "dir-0/")).split("\n").length;
  expect(operations.gets).toBeLessThanOrEqual(1);
  expect(operations.rowsRead).toBeLessThan(120 + 4 * entries);
});

test("an answer is had again by its ETag", async () => {
  const { headers } = await askApi(server, "/repos/me/odd/files?ref=main");
  const again = await askApi(server, "/repos/me/odd/files?ref=main", {
    headers: { "If-None-Match": headers.get("ETag")! },
  });
  expect(again.status).toBe(304);
  expect(headers.get("Cache-Control")).toBe("private, no-cache");
  const commit = await git(odd, "rev-parse", "main");
  expect((await askApi(server, `/repos/me/odd/files?ref=${commit}`)).headers.get("Cache-Control")).toMatch(/immutable/);
});

test("all files are what ls-tree -r says, on pages of any size", async () => {
  for (const [dir, name, ref] of [
    [odd, "odd", "main"],
    [odd, "odd", "other"],
    [history, "history", "main"],
  ] as const) {
    const expected = await listTree(dir, "-r", ref);
    for (const limit of [1_000, 7, 1]) {
      if (limit === 1 && expected.length > 20) continue;
      const files: Entry[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const query: string = `ref=${ref}&limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`;
        const { body }: { body: Files } = await askApi(server, `/repos/me/${name}/files/all?${query}`);
        expect(body.files.length).toBeLessThanOrEqual(limit);
        files.push(...body.files);
        cursor = body.nextCursor;
      }
      expect(files.map(known)).toEqual(expected);
    }
  }
  const below = await askApi<Files>(server, "/repos/me/odd/files/all?path=deep");
  expect(below.body.files.map(known)).toEqual(await listTree(odd, "-r", "main", "deep/"));
});

test("later pages are of the first page's commit", async () => {
  const dir = await makeOddRepository([{ branch: "main", files: { a: "a", b: "b", c: "c" } }]);
  await git(dir, "push", "-q", `${server.url}/me/moving.git`, "main", "main:kept");
  const first = await askApi<Files>(server, "/repos/me/moving/files/all?limit=1");
  const next = await makeOddRepository([{ branch: "main", files: { x: "x" } }]);
  await git(next, "push", "-q", "-f", `${server.url}/me/moving.git`, "main:other");
  await git(next, "push", "-q", "-f", `${server.url}/me/moving.git`, "main");
  const second = await askApi<Files>(server, `/repos/me/moving/files/all?cursor=${first.body.nextCursor}`);
  expect(second.body.files.map(({ path }) => path)).toEqual(["b", "c"]);
  expect(await askApi(server, "/repos/me/moving/files/all?cursor=x")).toMatchObject({
    status: 422,
    body: { error: { field: "cursor" } },
  });
});

test("the last commit of every entry is git log's", async () => {
  const commits = (await git(history, "rev-list", "--all")).split("\n");
  for (const [i, ref] of commits.filter((_, at) => at % 15 === 0).entries()) {
    const folder = ["", "dir-0", "dir-3/dir-1"][i % 3]!;
    const { status, body } = await askApi<Directory>(
      server,
      `/repos/me/history/files?lastCommit=true&ref=${ref}&path=${folder}`,
    );
    if (status === 404) continue;
    expect(body.truncated).toBe(false);
    for (const { path, lastCommit } of body.entries) {
      expect([path, lastCommit]).toEqual([path, await git(history, "log", "-1", "--format=%H", ref, "--", path)]);
      expect(body.commits.map(({ oid }) => oid)).toContain(lastCommit);
    }
  }
});

test("a cursor is good for the request that it continues, and no other", async () => {
  const files = (rest: string) => askApi<Files>(server, `/repos/me/history/${rest}`);
  const first = await files("files/all?ref=main&path=&limit=1");
  const cursor = first.body.nextCursor!;
  const second = await files(`files/all?ref=main&path=&limit=2&lfs=true&cursor=${cursor}`);
  // A page without `ref` is of the first page's, and so is the one that follows it.
  const third = await files(`files/all?path=&limit=2&cursor=${second.body.nextCursor}`);
  const fourth = await files(`files/all?ref=main&path=&limit=2&cursor=${third.body.nextCursor}`);
  expect([second, third, fourth].map(({ status }) => status)).toEqual([200, 200, 200]);
  const others = [
    "files/all?ref=main&path=src",
    "files/all?ref=main&path=&path=src",
    "files/all?ref=HEAD&path=",
    "files/all?ref=main",
    "files?ref=main&path=",
    "contributors?ref=main",
    "log?ref=main",
    "grep?ref=main&pattern=a",
    "branches?",
    "pushes?",
  ];
  for (const other of others) {
    const answer = await askApi(server, `/repos/me/history/${other}&cursor=${cursor}`);
    expect([other, answer.status]).toEqual([other, 422]);
  }
});

test("a parameter that a route does not have is named, and so is a number that is not written as one", async () => {
  const { status, body } = await askApi(server, "/repos/me/history/files?recursive=true");
  expect([status, body]).toMatchObject([
    422,
    { error: { field: "recursive", message: expect.stringMatching(/^there is no parameter "recursive" here: /) } },
  ]);
  for (const limit of ["1.0", "0x1", "1e0", "+1", " 1", "01", ""]) {
    const answer = await askApi(server, `/repos/me/history/files?limit=${encodeURIComponent(limit)}`);
    expect([limit, answer.status, answer.body]).toMatchObject([limit, 422, { error: { field: "limit" } }]);
  }
});
