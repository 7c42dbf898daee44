import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { makeOddRepository } from "../harness/odd-tree.ts";
import { type Server, startServer } from "../harness/server.ts";
import { listZip } from "../harness/zip-entries.ts";

let server: Server;
let odd: string;
let history: string;

const long = `${"directory-of-a-long-name/".repeat(5)}${"f".repeat(90)}`;
const longer = `${"g".repeat(60)}/${"h".repeat(150)}`;

beforeAll(async () => {
  // Both inline chunks and R2 objects, without worktrees, which would be read instead.
  server = await startServer({ vars: { WORKTREES: "none" } });
  odd = await makeOddRepository([
    {
      branch: "main",
      files: {
        ".gitattributes": [
          "[attr]kept -export-ignore",
          "*.secret export-ignore",
          "keep.secret kept",
          "docs/ export-ignore",
          "/only-here export-ignore",
          "*.bat eol=crlf",
          "*.auto text=auto eol=crlf",
          "*.id ident",
          '"quoted \\"name\\"" export-ignore',
          "all-left-out/* export-ignore",
          "  # no pattern",
        ].join("\n"),
        "nested/.gitattributes": "*.secret !export-ignore\nonly-here export-ignore\n",
        "nested/a.secret": "kept: unspecified again",
        "nested/only-here": "left out by the nearer file",
        "a.secret": "left out",
        "keep.secret": "kept",
        "docs/x": "left out",
        "sub/docs/x": "left out",
        "sub/only-here": "kept: the pattern is of the root",
        "only-here": "left out",
        "all-left-out/x": "the directory does not come",
        '"quoted \\"name\\""': "left out",
        "dos.bat": "one\ntwo\r\nthree\n",
        "plain.auto": "one\ntwo\n",
        "mixed.auto": "one\r\ntwo\n",
        "binary.auto": "one\ntwo\0\n",
        "x.id": "$Id$ $Id: old $ $Id: not mine $ $Idea$",
        "run.sh": { mode: "100755", content: "#!/bin/sh\n" },
        link: { mode: "120000", content: "run.sh" },
        "long-link": { mode: "120000", content: "x".repeat(120) },
        submodule: { gitlink: "1234567890123456789012345678901234567890" },
        empty: "",
        "exactly-512": "x".repeat(512),
        '"\\303\\244 \\377"': "bytes",
        [long]: "a prefix takes the directories",
        [longer]: "an extended header takes the path",
        [`${"i".repeat(120)}/${"j".repeat(120)}/k`]: "so it does for a directory",
        "large.bin": randomBytes(2_500_000),
      },
    },
    { branch: "a/branch", files: { "run.sh": null } },
  ]);
  await git(odd, "push", "-q", `${server.url}/me/odd.git`, "main", "a/branch");
  history = await makeHistory({ commits: 30, files: 120, upheavals: 6, tags: 3 });
  await git(history, "push", "-q", "--mirror", `${server.url}/me/history.git`);
  server.takeEvents();
});

afterAll(() => server.close());

async function ask(path: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await fetch(`${server.url}/api/repos/me/${path}`, { method, headers });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

const archive = async (dir: string, ...args: string[]): Promise<Buffer> =>
  (await tryGit(dir, ["archive", ...args])).stdoutBytes;

test.each([
  ["odd/archive/main.tar", () => archive(odd, "main")],
  ["odd/archive/a/branch.tar", () => archive(odd, "a/branch")],
  ["odd/archive/a%2Fbranch.tar?prefix=some/where/", () => archive(odd, "--prefix=some/where/", "a/branch")],
  ["odd/archive/main.tar?prefix=no-folder-", () => archive(odd, "--prefix=no-folder-", "main")],
  ["odd/archive/main.tar?path=sub", () => archive(odd, "main", "sub")],
  ["odd/archive/main.tar?path=nested/a.secret", () => archive(odd, "main", "nested/a.secret")],
  ["history/archive/main~7.tar", () => archive(history, "main~7")],
  ["history/archive/v0.tar", () => archive(history, "v0")],
  ["history/archive/main.tar?path=dir-3", () => archive(history, "main", "dir-3")],
])("a tar is git archive's to the byte: %s", async (path, expected) => {
  const { status, headers, bytes } = await ask(path);
  expect([status, headers.get("Content-Type")]).toEqual([200, "application/x-tar"]);
  expect(bytes.equals(await expected())).toBe(true);
});

test("a compressed tar is the same tar", async () => {
  const { headers, bytes } = await ask("odd/archive/main.tar.gz");
  expect(headers.get("Content-Type")).toBe("application/gzip");
  expect(headers.get("Content-Disposition")).toBe('attachment; filename="odd-main.tar.gz"');
  expect(gunzipSync(bytes).equals(await archive(odd, "main"))).toBe(true);
});

test.each([
  ["odd/archive/a/branch.zip?prefix=x/", () => archive(odd, "--format=zip", "--prefix=x/", "a/branch")],
  ["history/archive/main.zip", () => archive(history, "--format=zip", "main")],
])("a ZIP has what git archive's has: %s", async (path, expected) => {
  expect(await listZip((await ask(path)).bytes)).toEqual(await listZip(await expected()));
});

test("an archive is had again by its ETag, and its head alone", async () => {
  const { headers } = await ask("history/archive/main.tar");
  const again = await ask("history/archive/main.tar", { "If-None-Match": headers.get("ETag")! });
  expect(again.status).toBe(304);
  const commit = await git(history, "rev-parse", "main");
  const head = await ask(`history/archive/${commit}.tar`, {}, "HEAD");
  expect([head.status, head.bytes.length]).toEqual([200, 0]);
  expect(head.headers.get("Cache-Control")).toMatch(/immutable/);
});

test.each([
  ["odd/archive/main.rar", 404],
  ["odd/archive/nothing.tar", 404],
  ["odd/archive/main", 404],
  ["odd/archive/main.tar?path=nothing", 404],
  ["odd/archive/main.tar?prefix=../up/", 422],
  ["odd/archive/main.tar?prefix=/root/", 422],
  ["nobody/archive/main.tar", 404],
])("%s is refused", async (path, status) => {
  expect((await ask(path)).status).toBe(status);
});

test("each chunk is read about once", { tags: "sweep" }, async () => {
  const files = Array.from({ length: 900 }, (_, i) => [`dir-${i % 9}/${i}`, randomBytes(8_000)] as const);
  const dir = await makeOddRepository([{ branch: "main", files: Object.fromEntries(files) }]);
  await git(dir, "push", "-q", `${server.url}/me/noise.git`, "main");
  const { operations: pushed } = await server.takeEvent("push");
  server.takeEvents();
  const { bytes } = await ask("noise/archive/main.tar");
  expect(bytes.equals(await archive(dir, "main"))).toBe(true);
  const { operations } = await server.takeEvent("read");
  expect(pushed.puts).toBe(4);
  // A window may end inside a chunk, and a read takes at most 4 MiB.
  expect(operations.gets).toBeLessThanOrEqual(pushed.puts + 2);
  expect(operations.bytesOut).toBeLessThan(pushed.bytesIn * 1.01);
  // The object reads trees, and nothing between them.
  const calls = server.takeEvents().filter((event) => event.event === "call");
  expect(calls.reduce((sum, call) => sum + call.operations.bytesOut, 0)).toBeLessThan(200_000);
});
