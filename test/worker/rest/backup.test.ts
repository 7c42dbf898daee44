import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { findProblems } from "../../harness/find-problems.ts";
import { git, listRefs, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { Random } from "../../harness/random.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

let server: Server;
let dir: string;
/** The backup of `me/odd`. */
let backup: Buffer;

beforeAll(async () => {
  server = await startServer();
  dir = await makeHistory({ commits: 60, files: 20, branches: 4, merges: 2, tags: 4, upheavals: 5 });
  const blob = (await git(dir, "ls-tree", "-r", "main")).split(/\s/)[2]!;
  await git(dir, "tag", "of-blob", blob);
  await git(dir, "tag", "-a", "-m", "a tree", "of-tree", "main^{tree}");
  await git(dir, "update-ref", "refs/notes/deep/er", "main~3");
  // HEAD names a branch that no convention would choose.
  await git(dir, "branch", "zweig", "main~2");
  const data = Buffer.from(new Random(3).bytes(400_000)).toString("base64");
  const fat = `commit refs/heads/fat\ncommitter A <a@x> 1 +0000\ndata 1\nx\nM 100644 inline f\ndata ${data.length}\n${data}\n`;
  await tryGit(dir, ["fast-import", "--quiet"], { stdin: fat });
  await git(dir, "push", "-q", `${server.url}/me/odd.git`, "refs/*:refs/*");
  await askApi(server, "/repos/me/odd", { method: "PATCH", json: { defaultBranch: "zweig" } });
  backup = await download("me/odd");
});

afterAll(() => server.close());

async function download(repository: string): Promise<Buffer> {
  const response = await fetch(`${server.url}/api/repos/${repository}/backup.bundle`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

function restore(repository: string, body: Uint8Array | ReadableStream, query = "") {
  const init = { method: "PUT", body, headers: { "Content-Type": "application/x-git-bundle" }, duplex: "half" };
  return askApi<{ error: { code: string; message: string } }>(
    server,
    `/repos/${repository}/backup.bundle${query}`,
    init as RequestInit,
  );
}

/** Writes a bundle to a file. */
function save(bundle: Uint8Array): string {
  const file = join(makeTempDir("backup"), "b.bundle");
  writeFileSync(file, bundle);
  return file;
}

async function bundleOf(...args: string[]): Promise<Buffer> {
  const { code, stdoutBytes, stderr } = await tryGit(dir, ["bundle", "create", "-q", "-", ...args]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdoutBytes;
}

const remoteRefs = (repository: string) => git(dir, "ls-remote", "--symref", `${server.url}/${repository}.git`);

/** There is no repository, or at most an empty one. */
async function expectNothing(repository: string): Promise<void> {
  const listed = await tryGit(dir, ["ls-remote", `${server.url}/${repository}.git`]);
  expect(listed.stdout).toBe("");
}

describe("a backup", () => {
  test("is a bundle of all refs, which git verifies and clones", async () => {
    const file = save(backup);
    expect((await tryGit(dir, ["bundle", "verify", file])).code).toBe(0);
    const heads = (await git(dir, "bundle", "list-heads", file)).split("\n");
    expect(heads[0]).toBe(`${await git(dir, "rev-parse", "zweig")} HEAD`);
    expect(heads.slice(1).join("\n")).toBe(
      await git(dir, "for-each-ref", "--sort=refname", "--format=%(objectname) %(refname)"),
    );
    const clone = await makeRepository("clone.git", "--bare");
    await git(clone, "fetch", "-q", file, "refs/*:refs/*");
    await git(clone, "fsck", "--strict", "--no-dangling");
    expect(await listRefs(clone)).toBe(await listRefs(dir));
    const checkedOut = join(makeTempDir("clone"), "c");
    await git(dir, "clone", "-q", file, checkedOut);
    expect(await git(checkedOut, "rev-parse", "HEAD")).toBe(await git(dir, "rev-parse", "zweig"));
  });

  test("says what it is, and how long", async () => {
    for (const method of ["GET", "HEAD"]) {
      const { headers, body } = await fetch(`${server.url}/api/repos/me/odd.git/backup.bundle`, { method });
      expect(headers.get("Content-Type")).toBe("application/x-git-bundle");
      expect(headers.get("Content-Disposition")).toBe('attachment; filename="me-odd.bundle"');
      if (method === "HEAD") expect(headers.get("Content-Length")).toBe(String(backup.length));
      await body?.cancel();
    }
  });

  test("of what is not there, or has no ref, is refused", async () => {
    expect((await askApi(server, "/repos/me/none/backup.bundle")).status).toBe(404);
    await askApi(server, "/repos", { method: "POST", json: { owner: "me", name: "empty" } });
    expect((await askApi(server, "/repos/me/empty/backup.bundle")).status).toBe(404);
  });

  test("whose bytes are missing breaks off", { tags: "sweep" }, async () => {
    await git(dir, "push", "-q", `${server.url}/me/lossy.git`, "fat");
    const { repository } = server.takeEvents().findLast(({ event }) => event === "push") as unknown as {
      repository: string;
    };
    expect(await server.loseObjects(`${repository}/chunks/`)).toBeGreaterThan(0);
    const reading = fetch(`${server.url}/api/repos/me/lossy/backup.bundle`).then((response) => response.arrayBuffer());
    await expect(reading).rejects.toThrow();
  });
});

describe("a restored repository", () => {
  test("is the one that was backed up", { tags: "sweep" }, async () => {
    const { status, body } = await restore("me/again", backup);
    expect([status, body]).toMatchObject([201, { defaultBranch: "zweig", refs: expect.any(Array) }]);
    expect(await remoteRefs("me/again")).toBe(await remoteRefs("me/odd"));
    expect(await findProblems(`${server.url}/me/again.git`)).toEqual([]);
    const clone = await makeRepository("again.git", "--bare");
    await git(clone, "fetch", "-q", `${server.url}/me/again.git`, "refs/*:refs/*");
    await git(clone, "fsck", "--strict", "--no-dangling");
    // Restoring again succeeds: it has everything already. Restoring something else does not.
    expect((await restore("me/again", backup)).status).toBe(200);
    expect((await restore("me/again", await bundleOf("main"))).status).toBe(409);
    expect((await restore("me/odd", await bundleOf("--all"), "?defaultBranch=main")).status).toBe(200);
    expect(await remoteRefs("me/odd")).toContain("ref: refs/heads/zweig\tHEAD");
  });

  test("may have been empty, and takes what git makes, in whatever pieces it comes", async () => {
    await askApi(server, "/repos", { method: "POST", json: { owner: "me", name: "made", defaultBranch: "trunk" } });
    const bundle = await bundleOf("--all");
    const pieces = [0, 1, 15, 17, 800, 5_000, bundle.length];
    const trickle = new ReadableStream<Uint8Array>({
      start: (controller) => {
        pieces.slice(1).forEach((end, i) => controller.enqueue(bundle.subarray(pieces[i], end)));
        controller.close();
      },
    });
    const { status } = await restore("me/made", trickle, "?defaultBranch=side-1");
    expect(status).toBe(201);
    expect(await remoteRefs("me/made")).toContain("ref: refs/heads/side-1\tHEAD");
    expect(await git(dir, "ls-remote", "--refs", `${server.url}/me/made.git`)).toBe(
      await git(dir, "ls-remote", "--refs", "."),
    );
  });

  test("may consist of a tag alone", async () => {
    expect((await restore("me/tag", await bundleOf("v1"))).body).toMatchObject({ defaultBranch: null });
    expect(await remoteRefs("me/tag")).toBe(`${await git(dir, "rev-parse", "v1")}\trefs/tags/v1`);
  });
});

test(
  "a fork's backup is whole without its parent, and a parent's has nothing of its forks",
  { tags: "sweep" },
  async () => {
    const url = (name: string): string => `${server.url}/me/${name}.git`;
    await git(dir, "push", "-q", url("parent"), "refs/*:refs/*");
    const fork = { method: "POST", json: { name: "fork", branches: ["main"] } };
    expect((await askApi(server, "/repos/me/parent/forks", fork)).status).toBe(201);
    const before = { parent: await download("me/parent"), fork: await download("me/fork") };
    // A commit of the fork alone, whose blob is a delta on the parent's.
    const clone = join(makeTempDir("fork"), "c");
    await git(dir, "clone", "-q", url("fork"), clone);
    writeFileSync(join(clone, "own.txt"), "of the fork alone\n");
    await git(clone, "add", ".");
    await git(clone, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "own");
    const own = await git(clone, "rev-parse", "HEAD");
    await git(clone, "push", "-q", "origin", "main");
    const bundle = await download("me/fork");
    expect((await download("me/parent")).equals(before.parent)).toBe(true);
    expect(bundle.equals(before.fork)).toBe(false);

    // Both are restored once nothing of the family is left.
    for (const name of ["parent", "fork"])
      expect((await askApi(server, `/repos/me/${name}`, { method: "DELETE" })).status).toBe(204);
    const restored = [
      ["parent-again", before.parent],
      ["fork-again", bundle],
    ] as const;
    for (const [name, bytes] of restored) {
      expect((await restore(`me/${name}`, bytes)).status).toBe(201);
      expect(await findProblems(url(name))).toEqual([]);
      const { body } = await askApi<{ parent: unknown; sharedBytes: number }>(server, `/repos/me/${name}`);
      expect(body).toMatchObject({ parent: null, sharedBytes: 0 });
      const mirror = join(makeTempDir("mirror"), "m.git");
      await git(dir, "clone", "-q", "--mirror", url(name), mirror);
      await git(mirror, "fsck", "--strict");
    }
    expect(await git(dir, "ls-remote", url("fork-again"), "main")).toContain(own);
    expect(await git(dir, "ls-remote", "--refs", url("parent-again"))).toBe(await git(dir, "ls-remote", "--refs", "."));
    // A fork is a repository like any other: a backup goes into it only when it has these refs.
    const again = { method: "POST", json: { name: "fork-of-restored" } };
    expect((await askApi(server, "/repos/me/parent-again/forks", again)).status).toBe(201);
    expect((await restore("me/fork-of-restored", before.parent)).status).toBe(200);
    expect((await restore("me/fork-of-restored", bundle)).status).toBe(409);
  },
);

describe("refused, and nothing is there after:", () => {
  const cut = (bytes: Buffer, end: number): Buffer => Buffer.from(bytes.subarray(0, end));
  const flip = (bytes: Buffer, at: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy[at]! ^= 1;
    return copy;
  };
  const header = (text: string): Buffer => Buffer.from(text);
  const packAt = (bytes: Buffer): number => bytes.indexOf("\n\n") + 2;
  const text = (bytes: Buffer): string => bytes.subarray(0, packAt(bytes)).toString("latin1");
  const withHeader = (change: (text: string) => string): Buffer =>
    Buffer.concat([Buffer.from(change(text(backup)), "latin1"), backup.subarray(packAt(backup))]);
  const zeros = "0".repeat(40);

  test.each<[string, () => Buffer | Promise<Buffer>, number]>([
    ["cut in its pack", () => cut(backup, backup.length - 30_000), 422],
    ["without its trailer", () => cut(backup, backup.length - 20), 422],
    ["without its pack", () => cut(backup, packAt(backup)), 422],
    ["cut in its header", () => cut(backup, 100), 422],
    ["a bit flipped in its pack", () => flip(backup, backup.length - 40_000), 422],
    ["a bit flipped in its trailer", () => flip(backup, backup.length - 1), 422],
    ["a bit flipped in HEAD's id", () => flip(backup, 16), 422],
    ["a bit flipped in a branch's id", () => flip(backup, backup.indexOf(" refs/heads/main") - 1), 422],
    ["a bit flipped in its signature", () => flip(backup, 3), 422],
    ["nothing", () => Buffer.alloc(0), 422],
    ["a pack", () => backup.subarray(packAt(backup)), 422],
    ["no ref", () => header("# v2 git bundle\n\n"), 422],
    ["HEAD alone", () => withHeader((all) => `${all.split("\n").slice(0, 2).join("\n")}\n\n`), 422],
    ["version 3", () => header(`# v3 git bundle\n@object-format=sha1\n${zeros} refs/heads/main\n\n`), 422],
    [
      "other object format",
      () => header(`# v3 git bundle\n@object-format=sha256\n${zeros}${"0".repeat(24)} refs/heads/a\n\n`),
      422,
    ],
    ["a part of a history", () => bundleOf("main", "^main~3"), 422],
    [
      "an id that is not in its pack",
      () => withHeader((all) => all.replace(/\n\n$/, `\n${"12".repeat(20)} refs/tags/x\n\n`)),
      422,
    ],
    ["a ref of no name", () => withHeader((all) => all.replace("refs/heads/zweig", "refs/heads/zw..ig")), 422],
    ...["\r", "\t", " ", "\0", "\x7f", "\0report-status atomic", "\xff..", "\x1b[2J"].map(
      (odd): [string, () => Buffer, number] => [
        `a ref's name with ${JSON.stringify(odd)} in it`,
        () => withHeader((all) => all.replace("refs/heads/zweig", `refs/heads/zw${odd}eig`)),
        422,
      ],
    ),
    ["the same in its first ref", () => withHeader((all) => all.replace(/refs\/heads\/\w+/, "refs/heads/a\0b")), 422],
    [
      "a ref's name of 70,000 bytes",
      () => withHeader((all) => all.replace("refs/heads/zweig", `refs/heads/${"z".repeat(70_000)}`)),
      422,
    ],
    [
      "a ref that leads to nothing",
      () => withHeader((all) => all.replace(/\w+ refs\/heads\/zweig/, `${zeros} refs/heads/zweig`)),
      422,
    ],
    ["a line of a megabyte", () => withHeader((all) => all.replace("\n\n", `\n${"\x01".repeat(1_000_000)}\n\n`)), 422],
    ["a ref twice", () => withHeader((all) => all.replace(/(.* refs\/heads\/zweig\n)/, "$1$1")), 422],
    ["a branch at a tag", () => withHeader((all) => all.replace("refs/tags/v0", "refs/heads/v0")), 422],
    ["names in each other's way", () => withHeader((all) => all.replace("refs/tags/v0", "refs/heads/main/v0")), 422],
  ])("%s", async (_, make, expected) => {
    const name = `bad/r-${crypto.randomUUID()}`;
    const { status, body } = await restore(name, await make());
    expect([status, body]).toMatchObject([expected, { error: { code: "invalid", message: expect.any(String) } }]);
    expect(body.error.message.length).toBeLessThan(2_500);
    await expectNothing(name);
  });

  test("a default branch that is not in it", async () => {
    expect((await restore("bad/head", backup, "?defaultBranch=none")).status).toBe(422);
    await expectNothing("bad/head");
    expect((await restore("bad/head", backup)).status).toBe(201);
  });

  test("a header without end", { tags: "sweep" }, async () => {
    const line = Buffer.from(`${zeros} refs/heads/${"x".repeat(960)}\n`);
    const endless = Buffer.concat([header("# v2 git bundle\n"), ...Array.from({ length: 17_000 }, () => line)]);
    expect((await restore("bad/endless", endless)).status).toBe(413);
  });
});
