import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, tryGit } from "../../harness/git.ts";
import { makeOddRepository } from "../../harness/odd-tree.ts";
import { type Server, startServer } from "../../harness/server.ts";

let server: Server;
let dir: string;

/** Large enough to come in pieces, and to be in an R2 object. */
const large = randomBytes(3_000_000);
/** As large, but in a few bytes of a chunk that stays inline. */
const zeros = new Uint8Array(2_000_000);
const lines = Array.from({ length: 2_000 }, (_, i) => `line ${i}\n`).join("");

beforeAll(async () => {
  // Worktrees would be read instead of blobs.
  server = await startServer({ vars: { WORKTREES: "none" } });
  dir = await makeOddRepository([
    {
      branch: "main",
      files: {
        "README.md": "# Hello\n",
        "page.html": "<script>alert(1)</script>",
        "image.svg": "<svg/>",
        "image.png": "no image",
        "large.bin": large,
        "lines.txt": lines,
        empty: "",
        link: { mode: "120000", content: "README.md" },
        sub: { gitlink: "1234567890123456789012345678901234567890" },
        '"a \\"b\\" \\303\\244\\r\\n.txt"': "odd",
        '"\\377.txt"': "no UTF-8",
        "folder/100%/x.txt": "percent",
      },
    },
    { branch: "main", files: { "lines.txt": lines.replace("line 1000\n", "changed\n") } },
    { branch: "a/branch", files: { "b/file": "slashes" } },
  ]);
  await git(dir, "tag", "a/tag", "main");
  await git(dir, "push", "-q", `${server.url}/me/repo.git`, "main", "a/branch", "a/tag");
  const inline = await makeOddRepository([{ branch: "main", files: { zeros, "x.txt": "x" } }]);
  await git(inline, "push", "-q", `${server.url}/me/inline.git`, "main");
  server.takeEvents();
});

afterAll(() => server.close());

async function ask(path: string, headers: Record<string, string> = {}, method = "GET") {
  // The runtime compresses what it may; then there is no length.
  const sent = { "Accept-Encoding": "identity", ...headers };
  const response = await fetch(`${server.url}/api/repos/me/${path}`, { method, headers: sent });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

test("every file's bytes are git's", async () => {
  const { stdout } = await tryGit(dir, ["ls-tree", "-r", "-z", "main"]);
  for (const line of stdout.split("\0")) {
    const [, oid, path] = /^\d+ blob (\w+)\t([^]*)$/.exec(line) ?? [];
    if (oid === undefined || path!.includes("\ufffd")) continue;
    const { bytes, status, headers } = await ask(`repo/raw/main/${path!.split("/").map(encodeURIComponent).join("/")}`);
    expect([path, status]).toEqual([path, 200]);
    expect(headers.get("ETag")).toBe(`"${oid}"`);
    expect(headers.get("Content-Length")).toBe(String(bytes.length));
    expect(createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex")).toBe(oid);
  }
  expect((await ask("repo/raw/main/%ff.txt")).bytes.toString()).toBe("no UTF-8");
});

test("a branch's slashes may stand as they are", async () => {
  for (const ref of ["a/branch", "a%2Fbranch", "heads/a/branch", "refs/heads/a/branch"]) {
    expect((await ask(`repo/raw/${ref}/b/file`)).bytes.toString()).toBe("slashes");
  }
  expect((await ask("repo/raw/a/tag/README.md")).status).toBe(200);
  expect((await ask("repo/raw/main~1/lines.txt")).bytes.toString()).toBe(lines);
  for (const path of ["a/branch", "a/branch/nothing", "main/nothing", "main/README.md/x", "main/", "main", "nowhere/x"])
    expect([path, (await ask(`repo/raw/${path}`)).status]).toEqual([path, 404]);
  for (const path of ["main/folder", "main/sub"]) expect((await ask(`repo/raw/${path}`)).status).toBe(422);
});

test("nothing that could be run is shown as what it is", async () => {
  const type = async (name: string) => (await ask(`repo/raw/main/${name}`)).headers.get("Content-Type");
  expect(await type("page.html")).toBe("text/plain; charset=utf-8");
  expect(await type("image.svg")).toBe("text/plain; charset=utf-8");
  expect(await type("image.png")).toBe("image/png");
  expect(await type("large.bin")).toBe("application/octet-stream");
  const { headers } = await ask("repo/raw/main/page.html");
  expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(headers.get("Content-Security-Policy")).toMatch(/default-src 'none'.*sandbox/);
  const odd = await ask(`repo/raw/main/${encodeURIComponent('a "b" ä\r\n.txt')}`);
  expect(odd.headers.get("Content-Disposition")).toBe(
    `inline; filename="a \\"b\\" ___.txt"; filename*=UTF-8''a%20%22b%22%20%C3%A4%0D%0A.txt`,
  );
});

test("what a whole id names may be kept for ever, what a branch names may not", async () => {
  const commit = await git(dir, "rev-parse", "main");
  expect((await ask(`repo/raw/${commit}/README.md`)).headers.get("Cache-Control")).toMatch(/immutable/);
  expect((await ask("repo/raw/main/README.md")).headers.get("Cache-Control")).toBe("private, no-cache");
});

test.each([
  ["README.md", "repo"],
  ["lines.txt", "repo"],
  ["large.bin", "repo"],
  ["zeros", "inline"],
])("ranges and conditions: %s", async (name, repository) => {
  const whole = await ask(`${repository}/raw/main/${name}`);
  const etag = whole.headers.get("ETag")!;
  const size = whole.bytes.length;
  const get = (headers: Record<string, string>) => ask(`${repository}/raw/main/${name}`, headers);
  for (const [range, start, end] of [
    ["bytes=0-0", 0, 1],
    ["bytes=3-6", 3, 7],
    [`bytes=${size - 2}-`, size - 2, size],
    ["bytes=-3", size - 3, size],
    [`bytes=2-${size + 5}`, 2, size],
  ] as const) {
    const part = await get({ Range: range });
    expect(part.status).toBe(206);
    expect(part.headers.get("Content-Range")).toBe(`bytes ${start}-${end - 1}/${size}`);
    expect(part.headers.get("Content-Length")).toBe(String(end - start));
    expect(part.bytes.equals(whole.bytes.subarray(start, end))).toBe(true);
  }
  const beyond = await get({ Range: `bytes=${size}-` });
  expect([beyond.status, beyond.headers.get("Content-Range")]).toEqual([416, `bytes */${size}`]);
  expect((await get({ Range: "bytes=0-0", "If-Range": etag })).status).toBe(206);
  expect((await get({ Range: "bytes=0-0", "If-Range": '"other"' })).status).toBe(200);
  expect((await get({ "If-None-Match": etag })).status).toBe(304);
  expect((await get({ "If-Match": '"other"' })).status).toBe(412);
  const head = await ask(`${repository}/raw/main/${name}`, {}, "HEAD");
  expect([head.status, head.headers.get("Content-Length"), head.bytes.length]).toEqual([200, String(size), 0]);
});

test("bytes come from one read, and none for what is kept inline", async () => {
  const read = async (path: string) => {
    server.takeEvents();
    await ask(path);
    return (await server.takeEvent("read")).operations;
  };
  expect(await read("repo/raw/main/large.bin")).toMatchObject({ gets: 1 });
  expect((await read("repo/raw/main/lines.txt")).gets).toBeLessThanOrEqual(2);
  expect(await read("inline/raw/main/x.txt")).toMatchObject({ gets: 0 });
});

test("lost bytes fail, and never end a file early", { tags: "sweep" }, async () => {
  const lost = await makeOddRepository([{ branch: "main", files: { "large.bin": large } }]);
  await git(lost, "push", "-q", `${server.url}/me/lost.git`, "main");
  await server.loseObjects("/chunks/");
  expect((await ask("lost/raw/main/large.bin")).status).toBe(500);
});

test(
  "a file of a worktree is passed on as it lies there, and of its blob when it is gone",
  { tags: "sweep" },
  async () => {
    const other = await startServer();
    try {
      await git(dir, "push", "-q", `${other.url}/me/repo.git`, "main");
      expect(await other.takeEvent("job")).toMatchObject({ kind: "materialize" });
      const get = async (headers: Record<string, string>) => {
        other.takeEvents();
        const response = await fetch(`${other.url}/api/repos/me/repo/raw/main/large.bin`, { headers });
        const bytes = Buffer.from(await response.arrayBuffer());
        return { status: response.status, bytes, read: await other.takeEvent("read") };
      };
      const written = await get({ Range: "bytes=1000-2000999" });
      expect(written.status).toBe(206);
      expect(written.bytes.equals(large.subarray(1_000, 2_001_000))).toBe(true);
      expect(written.read).toMatchObject({ blobs: 0, operations: { gets: 1, bytesOut: 2_000_000 } });
      expect(await other.loseObjects("/worktrees/")).toBeGreaterThan(0);
      const blob = await get({});
      expect(blob.bytes.equals(large)).toBe(true);
      expect(blob.read).toMatchObject({ blobs: 1 });
    } finally {
      await other.close();
    }
  },
);
