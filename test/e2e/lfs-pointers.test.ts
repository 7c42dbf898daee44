/** Pushes of pointer files of Git LFS: whose objects are missing, and how long objects stay. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { type ClientObject, LfsClient, objectOf, pointerOf } from "../harness/lfs.ts";
import { type Server, startServer } from "../harness/server.ts";

let server: Server;

beforeAll(async () => {
  server = await startServer({ vars: { LIMITS: JSON.stringify({ pruneGraceMs: 0 }) } });
});
afterAll(() => server.close());

const urlOf = (name: string): string => `${server.url}/pointers/${name}.git`;

async function commit(dir: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(dir, path), text);
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "files");
}

async function makeFiles(name: string, files: Record<string, string>): Promise<string> {
  const dir = await makeRepository(name);
  await commit(dir, files);
  return dir;
}

const tryPush = (dir: string, name: string, ...args: string[]) =>
  tryGit(dir, ["push", ...args, urlOf(name), "HEAD:refs/heads/main"]);

async function push(dir: string, name: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await tryPush(dir, name, ...args);
  expect(code, stderr).toBe(0);
}

test("a push whose LFS objects are missing is refused with their list, and taken when they are there", async () => {
  const objects = Array.from({ length: 23 }, (_, i) => objectOf(`content ${i}`));
  const files = Object.fromEntries(objects.map((object, i) => [`${i}.bin`, pointerOf(object)]));
  const dir = await makeFiles("refused", { ...files, "again.bin": pointerOf(objects[0]!) });
  const lfs = new LfsClient(urlOf("refused"));
  const { code, stderr } = await tryPush(dir, "refused");
  expect(code).not.toBe(0);
  const listed = objects.filter(({ oid }) => stderr.includes(oid));
  expect(listed).toHaveLength(10);
  expect(stderr.replaceAll("\nremote: ", " ")).toContain("and 13 more");
  expect(stderr).toContain("git lfs push --all");
  expect(await git(dir, "ls-remote", urlOf("refused")).catch(() => "")).toBe("");

  await lfs.upload(objects.slice(1));
  const last = await tryPush(dir, "refused");
  expect([last.code === 0, objects.filter(({ oid }) => last.stderr.includes(oid))]).toEqual([false, [objects[0]]]);
  await lfs.upload(objects);
  await push(dir, "refused");
  expect(await findProblems(urlOf("refused"))).toEqual([]);
});

test("objects may be missing if the push says so, and other values of the option are refused", async () => {
  const dir = await makeFiles("allowed", { "a.bin": pointerOf(objectOf("elsewhere")) });
  const wrong = await tryPush(dir, "allowed", "-o", "lfs=whatever");
  expect([wrong.code === 0, wrong.stderr]).toEqual([false, expect.stringContaining("lfs=allow-missing")]);
  await push(dir, "allowed", "-o", "lfs=allow-missing");
  // What is there already asks for nothing.
  await commit(dir, { "plain.txt": "text" });
  await push(dir, "allowed");
});

test("pointers are found in deltas and among extensions; other texts are no pointers", async () => {
  const oid = "ab".repeat(32);
  const version = "version https://git-lfs.github.com/spec/v1\n";
  const others = {
    "upper.bin": `${version}oid sha256:${oid.toUpperCase()}\nsize 5\n`,
    "short.bin": `${version}oid sha256:${oid.slice(2)}\nsize 5\n`,
    "other-hash.bin": `${version}oid sha512:${oid}\nsize 5\n`,
    "no-size.bin": `${version}oid sha256:${oid}\n`,
    "odd-size.bin": `${version}oid sha256:${oid}\nsize -5\n`,
    "huge-size.bin": `${version}oid sha256:${oid}\nsize 9007199254740993\n`,
    "crlf.bin": `${version}oid sha256:${oid}\nsize 5\n`.replaceAll("\n", "\r\n"),
    "long.bin": `${version}oid sha256:${oid}\nsize 5\n${"x".repeat(1_000)}`,
    "late.bin": `\n${version}oid sha256:${oid}\nsize 5\n`,
    "version.bin": version,
  };
  const dir = await makeFiles("texts", others);
  await git(dir, "config", "core.autocrlf", "false");
  await push(dir, "texts");
  const extended = `${version}ext-0-foo sha256:${"cd".repeat(32)}\noid sha256:${oid}\nsize 12345678901\n`;
  await commit(dir, { "extended.bin": extended });
  expect((await tryPush(dir, "texts")).stderr).toContain(oid);
  await git(dir, "reset", "-q", "--hard", "HEAD~1");

  // A long pointer that differs in its size only is sent as a delta.
  const padded = (size: number) =>
    `${version}${`ext-0-pad sha256:${"ef".repeat(32)}\n`.repeat(8)}oid sha256:${oid}\nsize ${size}\n`;
  await commit(dir, { "delta.bin": padded(1) });
  await push(dir, "texts", "-o", "lfs=allow-missing");
  await commit(dir, { "delta.bin": padded(2) });
  expect((await tryPush(dir, "texts", "--thin")).stderr).toContain(oid);
});

test(
  "a backup with pointers is restored, and a fork has the objects that its branches name",
  { tags: "sweep" },
  async () => {
    const kept = objectOf("kept");
    const other = objectOf("of another branch");
    const lfs = new LfsClient(urlOf("origin"));
    await lfs.upload([kept, other]);
    const dir = await makeFiles("origin", { "a.bin": pointerOf(kept) });
    await push(dir, "origin");
    await commit(dir, { "b.bin": pointerOf(other) });
    await git(dir, "push", "-q", urlOf("origin"), "HEAD:refs/heads/other");

    const backup = await fetch(`${server.url}/api/repos/pointers/origin/backup.bundle`);
    const body = new Uint8Array(await backup.arrayBuffer());
    const restored = await fetch(`${server.url}/api/repos/pointers/restored/backup.bundle`, { method: "PUT", body });
    expect(restored.status, await restored.text()).toBe(201);
    await restoreObjects("origin", "restored", [kept, other]);

    const fork = { owner: "pointers", name: "fork", branches: ["main"] };
    expect((await askApi(server, "/repos/pointers/origin/forks", { method: "POST", json: fork })).status).toBe(201);
    const forked = new LfsClient(urlOf("fork"));
    expect([(await forked.get(kept.oid)).status, (await forked.get(other.oid)).status]).toEqual([200, 404]);
    expect(await findProblems(urlOf("fork"))).toEqual([]);
  },
);

/** Brings the objects of a backup from one repository to another, by the list and one by one. */
async function restoreObjects(from: string, to: string, expected: readonly ClientObject[]): Promise<void> {
  type Page = { objects: { oid: string; size: number }[]; nextCursor: string | null };
  const list = async (name: string, query: string): Promise<Page["objects"]> => {
    const found: Page["objects"] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const path: string = `/repos/pointers/${name}/lfs/objects?limit=1&${query}${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const { body }: { body: Page } = await askApi<Page>(server, path);
      found.push(...body.objects);
      cursor = body.nextCursor;
    }
    return found;
  };
  const sorted = expected.map(({ oid, size }) => ({ oid, size })).toSorted((a, b) => (a.oid < b.oid ? -1 : 1));
  expect(await list(to, "which=missing")).toEqual(sorted);
  expect((await askApi(server, `/repos/pointers/${to}/lfs`)).body).toMatchObject({
    objects: 0,
    missing: sorted.length,
  });
  expect(await list(from, "")).toEqual(sorted);
  const [source, target] = [new LfsClient(urlOf(from)), new LfsClient(urlOf(to))];
  for (const { oid } of sorted) {
    const bytes = Buffer.from(await (await source.get(oid)).arrayBuffer());
    expect((await target.put({ oid, bytes })).status).toBe(200);
  }
  expect(await list(to, "which=stored")).toEqual(sorted);
  expect(await list(to, "which=missing")).toEqual([]);
  expect((await askApi(server, `/repos/pointers/${to}/lfs/objects?cursor=none`)).status).toBe(422);
  expect(await findProblems(urlOf(to))).toEqual([]);
}

/** Runs what is due until objects are gone. */
async function awaitMissing(name: string, gone: readonly ClientObject[]): Promise<void> {
  const lfs = new LfsClient(urlOf(name));
  for (let tries = 0; ; tries++) {
    await askApi(server, `/repos/pointers/${name}/maintenance`, { method: "POST" });
    const statuses = await Promise.all(gone.map(async ({ oid }) => (await lfs.get(oid)).status));
    if (statuses.every((status) => status === 404)) return;
    expect(tries, `${statuses.join(", ")}`).toBeLessThan(50);
    await sleep(100);
  }
}

test("objects that no reachable pointer names go, and the others stay", async () => {
  const [kept, left, shared] = ["kept", "left", "shared"].map((text) =>
    objectOf(`${text} ${randomBytes(8).toString("hex")}`),
  ) as [ClientObject, ClientObject, ClientObject];
  const lfs = new LfsClient(urlOf("collected"));
  await lfs.upload([kept, left, shared]);
  const dir = await makeFiles("collected", { "a.bin": pointerOf(kept), "s.bin": pointerOf(shared) });
  await push(dir, "collected");
  await commit(dir, { "b.bin": pointerOf(left), "t.bin": `${pointerOf(shared)}`.replace("size", "size") });
  await git(dir, "push", "-q", urlOf("collected"), "HEAD:refs/heads/topic");
  await askApi(server, "/repos/pointers/collected/maintenance", { method: "POST" });
  expect((await lfs.get(left.oid)).status).toBe(200);

  await git(dir, "push", "-q", urlOf("collected"), ":refs/heads/topic");
  await awaitMissing("collected", [left]);
  expect([(await lfs.get(kept.oid)).status, (await lfs.get(shared.oid)).status]).toEqual([200, 200]);
  expect(await findProblems(urlOf("collected"))).toEqual([]);
  // Again, it must be sent.
  const again = await tryGit(dir, ["push", "-q", urlOf("collected"), "HEAD:refs/heads/topic"]);
  expect(again.stderr).toContain(left.oid);
  await lfs.upload([left]);
  await git(dir, "push", "-q", urlOf("collected"), "HEAD:refs/heads/topic");
});

test("raw files follow pointers on request", async () => {
  const object = objectOf(randomBytes(20_000));
  const missing = objectOf("missing");
  await new LfsClient(urlOf("raw")).upload([object]);
  const dir = await makeFiles("raw", { "a.png": pointerOf(object), "m.bin": pointerOf(missing), "t.txt": "text" });
  await push(dir, "raw", "-o", "lfs=allow-missing");
  const read = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/api/repos/pointers/raw/raw/main/${path}`, { headers });
  expect(await (await read("a.png")).text()).toBe(pointerOf(object));
  const whole = await read("a.png?lfs=true");
  expect([whole.headers.get("Content-Type"), whole.headers.get("ETag")]).toEqual(["image/png", `"${object.oid}"`]);
  expect(Buffer.from(await whole.arrayBuffer()).equals(object.bytes)).toBe(true);
  const range = await read("a.png?lfs=true", { Range: "bytes=19990-" });
  expect([range.status, Buffer.from(await range.arrayBuffer()).equals(object.bytes.subarray(19_990))]).toEqual([
    206,
    true,
  ]);
  expect(await (await read("t.txt?lfs=true")).text()).toBe("text");
  const none = await read("m.bin?lfs=true");
  expect([none.status, await none.text()]).toEqual([404, expect.stringContaining(missing.oid)]);
});

test("what is kept is counted, and a check finds objects that are missing or changed", { tags: "sweep" }, async () => {
  const objects = Array.from({ length: 3 }, () => objectOf(randomBytes(9_000)));
  const lfs = new LfsClient(urlOf("checked"));
  await lfs.upload(objects);
  const files = Object.fromEntries(objects.map((object, i) => [`${i}.bin`, pointerOf(object)]));
  await push(await makeFiles("checked", files), "checked");
  await lfs.ask("POST", "locks", "lock", { path: "0.bin" });
  const fork = { owner: "pointers", name: "checked-fork" };
  expect((await askApi(server, "/repos/pointers/checked/forks", { method: "POST", json: fork })).status).toBe(201);
  const stateOf = async (name: string) => (await askApi(server, `/repos/pointers/${name}/lfs`)).body;
  expect(await stateOf("checked")).toEqual({ objects: 3, sizeBytes: 27_000, sharedBytes: 0, missing: 0, locks: 1 });
  expect(await stateOf("checked-fork")).toEqual({
    objects: 3,
    sizeBytes: 27_000,
    sharedBytes: 27_000,
    missing: 0,
    locks: 0,
  });
  expect(await findProblems(urlOf("checked"))).toEqual([]);

  expect(await server.loseObjects(objects[1]!.oid)).toBe(1);
  for (const name of ["checked", "checked-fork"])
    expect(await findProblems(urlOf(name))).toEqual([
      expect.objectContaining({ kind: "lfs-object", key: expect.stringContaining(objects[1]!.oid) }),
    ]);
});
