import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, gitEnv, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

interface ChangedFile {
  path: string;
  oldPath: string | null;
  status: string;
  additions: number | null;
  deletions: number | null;
  isBinary: boolean;
  patch: string | null;
}

interface Diff {
  files: ChangedFile[];
  fileCount: number;
  nextCursor: string | null;
  commits: { oid: string }[];
  message: string;
}

const FILES = 30;
let server: Pick<Server, "url">;
let dir: string;

/** A history with a branch of a slashed name, renames, a merge, binary files and other object
 * types. */
async function makeSource(): Promise<string> {
  const source = await makeRepository("source");
  const random = new Random(8);
  const text = (seed: string): string => Array.from({ length: 40 }, (_, i) => `${seed} ${i}\n`).join("");
  const stream: string[] = [];
  let mark = 0;
  const commit = (branch: string, parents: string[], ...changes: string[]): void => {
    stream.push(`commit refs/heads/${branch}\nmark :${++mark}\ncommitter Ada <a@b> ${1_700_000_000 + mark} +0100\n`);
    stream.push(`data 4\nno ${String.fromCharCode(64 + mark)}\n`);
    if (parents[0] !== undefined) stream.push(`from ${parents[0]}\n`);
    for (const parent of parents.slice(1)) stream.push(`merge ${parent}\n`);
    stream.push(...changes);
  };
  const put = (path: string, content: string, mode = "100644"): string =>
    `M ${mode} inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`;
  commit(
    "main",
    [],
    ...Array.from({ length: FILES }, (_, i) => put(`dir-${i % 4}/file-${i}.txt`, text(`file ${i}`))),
    put("binary", "a\0b"),
    put("link", "binary", "120000"),
  );
  commit("main", [":1"], put("dir-0/file-0.txt", text("file 0").replace("0 7", "seven")), put("binary", "a\0c"));
  commit("feature/x", [":1"], "R dir-1 moved/dir-1\n", put("link", "a file\n"), put("new.txt", "no newline"));
  commit(
    "feature/x",
    [":3"],
    put("moved/dir-1/file-1.txt", text("file 1").replace("1 9\n", "")),
    "D dir-2/file-2.txt\n",
  );
  commit("main", [":2", ":4"], "R dir-1 moved/dir-1\n", put("merged", `${random.below(9)}\n`));
  commit("unrelated", [], put("alone", "alone\n"));
  const { code, stderr } = await tryGit(source, ["fast-import", "--quiet"], { stdin: stream.join("") });
  if (code !== 0) throw new Error(stderr);
  await git(source, "tag", "-a", "v1", "-m", "one", "main~1");
  return source;
}

beforeAll(async () => {
  server = await shareServer("compare");
  dir = await makeSource();
  await git(dir, "push", "-q", "--mirror", `${server.url}/compare/repo.git`);
});

const get = <Body = Diff>(path: string, headers: Record<string, string> = {}) =>
  askApi<Body>(server, `/repos/compare/repo${path}`, { headers });

async function gitDiff(...args: string[]): Promise<string> {
  return (await tryGit(dir, ["diff", "-M", "--no-color", ...args])).stdout;
}

function numstat({ files }: Diff): string {
  const counts = files.map(({ additions, deletions, path, oldPath }) => {
    const lines = `${additions ?? "-"}\t${deletions ?? "-"}\t`;
    return oldPath === null ? `${lines}${path}\0` : `${lines}\0${oldPath}\0${path}\0`;
  });
  return counts.join("");
}

test.each([
  ["main~1...feature%2Fx", "main~1...feature/x"],
  ["main~1..feature/x".replaceAll("/", "%2F"), "main~1..feature/x"],
  ["v1...main", "v1...main"],
  ["feature%2Fx~1...main", "feature/x~1...main"],
  ["feature%2Fx..main", "feature/x..main"],
  ["main~1...feature/x", "main~1...feature/x"],
])("compare %s is git diff %s", async (range, gitRange) => {
  const { status, body } = await get(`/compare/${range}`);
  expect(status).toBe(200);
  expect(body.files.map(({ patch }) => patch).join("")).toBe(await gitDiff("--full-index", gitRange));
  expect(numstat(body)).toBe(await gitDiff("--numstat", "-z", gitRange));
  const [base, head] = gitRange.split(/\.\.\.?/) as [string, string];
  const counts = (await git(dir, "rev-list", "--left-right", "--count", `${base}...${head}`)).split("\t").map(Number);
  expect(body).toMatchObject({
    base: await git(dir, "rev-parse", `${base}^{commit}`),
    head: await git(dir, "rev-parse", head),
    mergeBase: await git(dir, "merge-base", base, head),
    behind: counts[0],
    ahead: counts[1],
    fileCount: body.files.length,
    nextCursor: null,
    truncated: false,
    renamesLimited: false,
  });
  expect(body.commits.map(({ oid }) => oid).join("\n")).toBe(await git(dir, "log", "--format=%H", `${base}..${head}`));
});

test("a commit is compared with its parent, a merge with the one that is asked for", async () => {
  const shown = await get("/commits/feature%2Fx");
  expect(shown.body).toMatchObject({
    message: "no D",
    signature: null,
    base: await git(dir, "rev-parse", "feature/x~1"),
  });
  expect(shown.body.files.map(({ patch }) => patch).join("")).toBe(
    await gitDiff("--full-index", "feature/x~1", "feature/x"),
  );
  for (const parent of [1, 2]) {
    const { body } = await get(`/commits/main?parent=${parent}`);
    expect(numstat(body)).toBe(await gitDiff("--numstat", "-z", `main^${parent}`, "main"));
  }
  const root = await get("/commits/main~2");
  expect(root.body).toMatchObject({ base: null, fileCount: FILES + 2 });
  expect(root.body.files.every(({ status, patch }) => status === "added" && patch !== null)).toBe(true);
  expect(await get("/commits/main?parent=3")).toMatchObject({ status: 422, body: { error: { field: "parent" } } });
});

test("files come in pages, which go on with the commits of the first", async () => {
  const whole = await get("/commits/main~2");
  const files: ChangedFile[] = [];
  let path = "/commits/main~2?limit=10";
  for (let cursor: string | null = ""; cursor !== null;) {
    const { body } = await get(path);
    expect(body.fileCount).toBe(FILES + 2);
    files.push(...body.files);
    cursor = body.nextCursor;
    path = `/commits/main~2?limit=10&cursor=${cursor}`;
  }
  expect(files).toEqual(whole.body.files);
  const first = await get("/compare/main~1...feature%2Fx?limit=3");
  const second = await get(`/compare/main~1...feature%2Fx?limit=3&cursor=${first.body.nextCursor}`);
  const both = await get("/compare/main~1...feature%2Fx?limit=6");
  expect([...first.body.files, ...second.body.files]).toEqual(both.body.files);
  expect(second.body).toMatchObject({ commits: [], head: (both.body as unknown as { head: string }).head });
  const other = await get(`/compare/HEAD...HEAD?limit=3&cursor=${first.body.nextCursor}`);
  expect(other).toMatchObject({ status: 422, body: { error: { field: "cursor" } } });
});

test("git apply makes the one of the other with the raw patch", async () => {
  const env = { ...gitEnv(), GIT_INDEX_FILE: `${dir}/.git/patched` };
  for (const [path, base, head] of [
    ["/compare/main~1..feature%2Fx?format=diff", "main~1", "feature/x"],
    ["/commits/main~1?format=diff", "main~2", "main~1"],
  ] as const) {
    const { status, headers, body } = await get<string>(path);
    expect([status, headers.get("Content-Type")]).toEqual([200, "text/x-diff"]);
    await tryGit(dir, ["read-tree", base], { env });
    expect((await tryGit(dir, ["apply", "--cached"], { env, stdin: body })).stderr).toBe("");
    expect((await tryGit(dir, ["write-tree"], { env })).stdout.trim()).toBe(
      await git(dir, "rev-parse", `${head}^{tree}`),
    );
  }
  const accepted = await get<string>("/commits/feature%2Fx", { Accept: "text/x-diff" });
  expect(accepted.body).toBe(await gitDiff("--full-index", "feature/x~1", "feature/x"));
});

test("who has an answer already is told so; one addressed by ids may be kept", async () => {
  for (const path of ["/commits/main", "/compare/main...feature%2Fx", "/compare/main...feature%2Fx?format=diff"]) {
    const { headers } = await get(path);
    expect(headers.get("Cache-Control")).toBe("private, no-cache");
    const again = await get(path, { "If-None-Match": headers.get("ETag")! });
    expect(again).toMatchObject({ status: 304, body: "" });
  }
  const [main, topic] = await Promise.all([git(dir, "rev-parse", "main"), git(dir, "rev-parse", "feature/x")]);
  for (const path of [`/commits/${main}`, `/compare/${main}...${topic}`]) {
    expect((await get(path)).headers.get("Cache-Control")).toContain("immutable");
  }
  const patch = (await get(`/commits/${main}?format=diff`)).headers.get("ETag");
  expect(patch).not.toBe((await get(`/commits/${main}`)).headers.get("ETag"));
});

test("what cannot be compared is said", async () => {
  const codes = async (path: string) => {
    const { status, body } = await get<{ error: { code: string } }>(path);
    return [status, body.error.code];
  };
  expect(await codes("/compare/main...unrelated")).toEqual([404, "not-found"]);
  expect((await get("/compare/main..unrelated")).body).toMatchObject({ mergeBase: null, ahead: 1 });
  expect(await codes("/compare/main...nothing")).toEqual([404, "not-found"]);
  expect(await codes("/compare/main")).toEqual([422, "invalid"]);
  expect(await codes("/compare/main...feature%2Fx?limit=0")).toEqual([422, "invalid"]);
  expect(await codes("/compare/main...feature%2Fx?cursor=x")).toEqual([422, "invalid"]);
  expect(await codes("/commits/main%5E%7Btree%7D")).toEqual([422, "wrong-type"]);
});

test("a patch with a file that is too large is refused with its name, and the list has the others", async () => {
  const large = await makeRepository("large");
  const write = async (version: string): Promise<void> => {
    for (const [path, content] of [
      ["huge.txt", `${version}\n`.repeat(900_000)],
      ["small.txt", `${version}\n`],
    ])
      writeFileSync(join(large, path!), content!);
    await git(large, "add", ".");
    await git(large, "commit", "-q", "-m", version);
  };
  await write("one");
  await write("other");
  await git(large, "push", "-q", `${server.url}/compare/large.git`, "main");
  const { status, body } = await askApi<{ error: object }>(server, "/repos/compare/large/commits/main?format=diff");
  const message = expect.stringMatching(
    /^the changed file huge\.txt .* 8388608 \(it is 9000000\): .*git diff in a clone/,
  );
  expect([status, body.error]).toEqual([413, expect.objectContaining({ code: "too-large", message })]);
  const { body: list } = await askApi<Diff>(server, "/repos/compare/large/commits/main");
  expect(list.files).toMatchObject([
    { path: "huge.txt", patch: null },
    { path: "small.txt", additions: 1 },
  ]);
});

test("large files with short patches come in pages, too, and the raw patch has them all", async () => {
  const many = await makeRepository("many");
  writeFileSync(join(many, "README"), "one\n");
  await git(many, "add", ".");
  await git(many, "commit", "-q", "-m", "one");
  const content = Buffer.alloc(4 * 1024 * 1024);
  for (let i = 10; i < 30; i++) writeFileSync(join(many, `zeros-${i}`), content);
  await git(many, "add", ".");
  await git(many, "commit", "-q", "-m", "twenty");
  await git(many, "push", "-q", `${server.url}/compare/many.git`, "main");
  const page = async (query: string): Promise<Diff> =>
    (await askApi<Diff>(server, `/repos/compare/many/commits/main${query}`)).body;
  const paths: string[][] = [];
  for (let query: string | null = ""; query !== null;) {
    const { files, fileCount, nextCursor } = await page(query);
    expect(fileCount).toBe(20);
    paths.push(files.map(({ path }) => path));
    query = nextCursor === null ? null : `?cursor=${nextCursor}`;
  }
  expect(paths.map(({ length }) => length)).toEqual([16, 4]);
  expect(paths.flat()).toEqual(Array.from({ length: 20 }, (_, i) => `zeros-${10 + i}`));
  const { body: patch } = await askApi<string>(server, "/repos/compare/many/commits/main?format=diff");
  await git(many, "checkout", "-q", "main~1");
  const applied = await tryGit(many, ["apply", "--index"], { stdin: patch });
  expect(applied.stderr).toBe("");
  expect(await git(many, "write-tree")).toBe(await git(many, "rev-parse", "main^{tree}"));
});
