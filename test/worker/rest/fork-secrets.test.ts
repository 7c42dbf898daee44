// What a repository of a family has and another one has not: no door of the other tells of it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { findProblems } from "../../harness/find-problems.ts";
import { git, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { packOf } from "../../harness/pack-builder.ts";
import { sendPush } from "../../harness/raw-push.ts";
import { decodeTexts, DELIM, encodePkt, FLUSH, type RawResponse, request } from "../../harness/raw.ts";
import { LfsClient, objectOf, pointerOf } from "../../harness/lfs.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

let server: Server;
/** A history whose pack goes to R2, with branches and tags. */
let source: string;

beforeAll(async () => {
  server = await startServer({ vars: { LIMITS: JSON.stringify({ minBundleBytes: 20_000, bundleDelayMs: 0 }) } });
  source = await makeHistory({ commits: 400, files: 60, branches: 4, merges: 2, tags: 6 });
});
afterAll(() => server.close());

const urlOf = (name: string): string => `${server.url}/me/${name}.git`;
const ask = (method: string, path: string, json?: unknown) =>
  askApi<Record<string, unknown>>(server, `/repos/me${path}`, { method, ...(json === undefined ? {} : { json }) });

async function mirror(name: string): Promise<string> {
  const dir = join(makeTempDir("mirror"), "m.git");
  await git(source, "clone", "-q", "--mirror", urlOf(name), dir);
  await git(dir, "fsck", "--strict");
  return dir;
}

const refsOf = (dir: string) => git(dir, "for-each-ref", "--format=%(objectname) %(refname)");
const objectsOf = async (dir: string): Promise<string[]> =>
  (await git(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"))
    .split("\n")
    .toSorted();
const idsOf = async (dir: string): Promise<string[]> => (await objectsOf(dir)).map((line) => line.slice(0, 40));

/** Commits a file to a branch of a clone. @returns the commit's id */
async function commitTo(dir: string, branch: string, text: string): Promise<string> {
  const blob = await tryGit(dir, ["hash-object", "-w", "--stdin"], { stdin: text });
  const tree = await tryGit(dir, ["mktree"], { stdin: `100644 blob ${blob.stdout.trim()}\tfile\n` });
  const commit = await git(dir, "commit-tree", "-p", branch, "-m", "A commit", tree.stdout.trim());
  await git(dir, "update-ref", `refs/heads/${branch}`, commit);
  return commit;
}

function sendCommand(name: string, command: string, lines: readonly string[]): Promise<RawResponse> {
  return request(`${urlOf(name)}/git-upload-pack`, {
    method: "POST",
    headers: { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: Buffer.concat([
      encodePkt(`command=${command}\n`),
      DELIM,
      ...lines.map((line) => encodePkt(`${line}\n`)),
      FLUSH,
    ]),
  });
}

/** Which of the commits that a client says it has the server has, too. */
async function findCommon(name: string, want: string, haves: readonly string[]): Promise<string[]> {
  const { status, body } = await sendCommand(name, "fetch", [`want ${want}`, ...haves.map((id) => `have ${id}`)]);
  expect(status).toBe(200);
  const acknowledged = decodeTexts(body).filter((line) => line.startsWith("ACK "));
  return acknowledged.map((line) => line.slice(4).trim());
}

/** What the bundle of a repository is called, from its own URL on; null: it has none. */
async function findBundle(name: string): Promise<string | null> {
  const { body } = await sendCommand(name, "bundle-uri", []);
  return (
    decodeTexts(body)
      .map((line) => /\.uri=\.\/(\S+)/.exec(line)?.[1])
      .find((uri) => uri !== undefined) ?? null
  );
}

/** A repository knows nothing of objects, whatever it is asked by id.
 * @param clone of the repository, which has none of them
 * @param from a clone that has them */
async function expectHidden(name: string, clone: string, branch: string, from: string): Promise<void> {
  const own = new Set(await objectsOf(clone));
  const hidden = (await objectsOf(from)).filter((line) => !own.has(line)).map((line) => line.split(" "));
  expect(hidden.length).toBeGreaterThan(2);
  const ids = hidden.map(([id]) => id!);
  const tip = await git(clone, "rev-parse", branch);
  expect(await findCommon(name, tip, [tip, ...ids])).toEqual([tip]);
  // Nor may a ref point at them, although stored deltas are based on some.
  const commands = ids.map((id) => ({ name: `refs/tags/stolen-${id}`, new: id }));
  const { unpack, refs } = await sendPush(urlOf(name), { commands, pack: packOf() });
  expect([unpack, refs.size]).toEqual(["ok", ids.length]);
  for (const reason of refs.values()) expect(reason).toContain("missing necessary objects");
  // One of each kind, by every other door.
  for (const [type, id] of new Map(hidden.map(([of, which]) => [which!, of!]))) {
    const kind = `${type}s`;
    const paths = [`/git/${kind}/${id}`, `/git/${kind}/${id.slice(0, 12)}`];
    if (type === "commit") paths.push(`/commits/${id}`, `/commits/${id.slice(0, 12)}`, `/compare/${branch}...${id}`);
    for (const path of paths) expect([path, (await ask("GET", `/${name}${path}`)).status]).toEqual([path, 404]);
    expect((await tryGit(clone, ["fetch", urlOf(name), id])).stderr).toContain("not our ref");
    const sizes = await sendCommand(name, "object-info", ["size", `oid ${id}`]);
    expect(decodeTexts(sizes.body).join("")).not.toMatch(/ \d+\n?$/);
  }
}

test("a fork of some branches knows nothing of the others", async () => {
  await git(source, "push", "-q", urlOf("part"), "refs/*:refs/*");
  const dir = await mirror("part");
  // Pushed together, the shorter text becomes a delta on the longer one.
  const text = (await objectsOf(source)).join("\n");
  const secret = await commitTo(dir, "side-3", `${text}\nnobody else's\n`);
  await commitTo(dir, "side-0", text);
  await git(dir, "push", "-q", urlOf("part"), "side-3", "side-0");
  const forked = await ask("POST", "/part/forks", { name: "part-fork", branches: ["side-0"] });
  expect([forked.status, forked.body]).toMatchObject([201, { defaultBranch: "side-0" }]);

  const expected = join(makeTempDir("native"), "n.git");
  await git(source, "clone", "-q", "--bare", "--single-branch", "--branch", "side-0", `file://${dir}`, expected);
  const clone = await mirror("part-fork");
  expect(await refsOf(clone)).toBe(await refsOf(expected));
  expect(await objectsOf(clone)).toEqual(await objectsOf(expected));
  expect(await findProblems(urlOf("part-fork"))).toEqual([]);
  await expectHidden("part-fork", clone, "side-0", dir);

  // The fork is a repository like any other: what it did not have can be pushed to it.
  await git(clone, "fetch", "-q", dir, secret);
  await git(clone, "push", "-q", urlOf("part-fork"), `${secret}:refs/heads/given`);
  expect(await git(clone, "ls-remote", urlOf("part-fork"), "given")).toContain(secret);
  const again = await mirror("part-fork");
  expect(await git(again, "rev-parse", "given")).toBe(secret);
  expect(await findProblems(urlOf("part-fork"))).toEqual([]);
});

test(
  "a parent knows nothing of what is pushed to its fork, not even while it merges and compares",
  { tags: "sweep" },
  async () => {
    await git(source, "push", "-q", urlOf("upper"), "refs/*:refs/*");
    expect((await ask("POST", "/upper/forks", { name: "lower" })).status).toBe(201);
    const clone = await mirror("upper");
    const dir = await mirror("lower");
    // One push that stays in the database, and one that goes to R2; deltas are based on the
    // parent's.
    await commitTo(dir, "side-1", "of the fork alone");
    await git(dir, "push", "-q", urlOf("lower"), "side-1");
    const noise = Array.from({ length: 40_000 }, (_, i) => `${i * 7919} ${(i * 104_729) % 65_537}`).join("\n");
    await commitTo(dir, "side-2", noise);
    await git(dir, "push", "-q", urlOf("lower"), "side-2");
    await expectHidden("upper", clone, "main", dir);
    const range = encodeURIComponent("main...me/lower:side-2");
    expect((await ask("GET", `/upper/compare/${range}`)).body).toMatchObject({ ahead: expect.any(Number) });
    const author = { name: "Ada Example", email: "ada@example.com" };
    const merge = { base: "main", head: "me/lower:side-2", author, dryRun: true };
    expect((await ask("POST", "/upper/merge", merge)).status).toBeLessThan(500);
    await expectHidden("upper", clone, "main", dir);
    // Nor is anything of it left when the fork is gone.
    expect((await ask("DELETE", "/lower")).status).toBe(204);
    await expectHidden("upper", clone, "main", dir);
    expect(await findProblems(urlOf("upper"))).toEqual([]);
  },
);

test("stored responses and bundles are of one repository, whoever shares its objects", { tags: "sweep" }, async () => {
  server.takeEvents();
  await git(source, "push", "-q", urlOf("told"), "refs/*:refs/*");
  await server.takeEvent("bundle");
  const bundle = (await findBundle("told"))!;
  expect((await request(`${urlOf("told")}/${bundle}`)).status).toBe(200);
  const tip = await git(source, "rev-parse", "side-2");
  const fetchFrom = async (name: string): Promise<RawResponse> =>
    sendCommand(name, "fetch", [`want ${tip}`, "ofs-delta", "done"]);
  const cacheOf = async (name: string): Promise<unknown> => (await fetchFrom(name)).headers["holdfast-cache"];
  await expect.poll(() => cacheOf("told")).toBe("hit");

  // The fork has that commit, too, and makes its own response; another fork has not.
  expect((await ask("POST", "/told/forks", { name: "told-whole" })).status).toBe(201);
  expect((await ask("POST", "/told/forks", { name: "told-part", branches: ["side-0"] })).status).toBe(201);
  expect(await cacheOf("told-whole")).toBe("miss");
  expect(decodeTexts((await fetchFrom("told-part")).body).join("")).toContain("not our ref");
  for (const name of ["told-whole", "told-part"]) {
    const found = await findBundle(name);
    expect(found).not.toBe(bundle);
    expect((await request(`${urlOf(name)}/${bundle}`)).status).toBe(404);
  }
  // The other way: what is stored of a fork with a branch of its own.
  const dir = await mirror("told-whole");
  const own = await commitTo(dir, "side-2", (await idsOf(source)).toReversed().join("\n"));
  await git(dir, "push", "-q", urlOf("told-whole"), "side-2");
  const ownFetch = async (name: string): Promise<RawResponse> =>
    sendCommand(name, "fetch", [`want ${own}`, "ofs-delta", "done"]);
  await expect.poll(async () => (await ownFetch("told-whole")).headers["holdfast-cache"]).toBe("hit");
  expect(decodeTexts((await ownFetch("told")).body).join("")).toContain("not our ref");
  const clone = await mirror("told-part");
  const file = join(makeTempDir("bundle"), "part.bundle");
  // What a bundle of the fork holds is what its refs reach.
  const backup = await fetch(`${server.url}/api/repos/me/told-part/backup.bundle`);
  writeFileSync(file, new Uint8Array(await backup.arrayBuffer()));
  const unbundled = join(makeTempDir("unbundled"), "u.git");
  await git(source, "clone", "-q", "--mirror", file, unbundled);
  expect(await objectsOf(unbundled)).toEqual(await objectsOf(clone));
});

test("a fork of some branches has no LFS object that only the others name, or that nothing names", async () => {
  const dir = await mirror("part");
  await git(dir, "push", "-q", urlOf("pictures"), "main");
  const [secret, unnamed] = [objectOf("of the branch secret"), objectOf("of no branch")];
  await new LfsClient(urlOf("pictures")).upload([secret, unnamed]);
  await git(dir, "branch", "secret", "main");
  await commitTo(dir, "secret", pointerOf(secret));
  await git(dir, "push", "-q", urlOf("pictures"), "secret");

  expect((await ask("POST", "/pictures/forks", { name: "pictures-fork", branches: ["main"] })).status).toBe(201);
  expect((await ask("POST", "/pictures-fork/forks", { name: "pictures-second" })).status).toBe(201);
  for (const name of ["pictures-fork", "pictures-second"]) {
    const lfs = new LfsClient(urlOf(name));
    // At once, perhaps before pointer files were looked for; and afterwards.
    for (const { oid } of [secret, unnamed]) expect([404, 503]).toContain((await lfs.get(oid)).status);
    expect((await ask("GET", `/${name}/lfs`)).body).toMatchObject({ objects: 0, sizeBytes: 0 });
    await expect.poll(async () => (await ask("GET", `/${name}/lfs/objects`)).body).toMatchObject({ objects: [] });
    expect((await lfs.batch("download", [secret, unnamed])).body.objects.map(({ error }) => error?.code)).toEqual([
      404, 404,
    ]);
    expect(await findProblems(urlOf(name))).toEqual([]);
  }
});
