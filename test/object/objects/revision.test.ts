import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { toHex } from "../../../src/base/format/oid.ts";
import { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { resolveRevision } from "../../../src/object/objects/revision.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { PushedRepository } from "../pushing.ts";
import { ANYONE } from "../../harness/requester.ts";

let dir: string;
let repository: OpenRepository;

beforeAll(async () => {
  dir = await makeRepository("source");
  const commit = (message: string) => git(dir, "commit", "-q", "--allow-empty", "-m", message);
  await mkdir(join(dir, "a/b"), { recursive: true });
  await writeFile(join(dir, "a/b/file"), "content");
  await git(dir, "add", ".");
  for (const message of ["one", "two", "three"]) await commit(message);
  await git(dir, "checkout", "-q", "-b", "topic/side", "HEAD~1");
  await commit("side");
  await git(dir, "checkout", "-q", "main");
  await git(dir, "merge", "-q", "--no-edit", "topic/side");
  await git(dir, "tag", "light", "main~1");
  await git(dir, "tag", "-a", "-m", "annotated", "v1", "main~2");
  await git(dir, "tag", "-a", "-m", "of a tag", "v1-again", "v1");
  await git(dir, "tag", "-a", "-m", "of a tree", "of-tree", "main^{tree}");
  const pushed = new PushedRepository();
  const names = (await git(dir, "for-each-ref", "--format=%(refname)")).split("\n");
  await pushed.pushFrom(dir, Object.fromEntries(names.map((name) => [name, name])));
  repository = new OpenRepository(pushed.repository.state, ANYONE, async () => undefined);
});

const resolve = async (text: string): Promise<string> => toHex((await resolveRevision(repository, text)).oid);

const parse = (text: string): Promise<string> => git(dir, "rev-parse", "--verify", "-q", text);

test.each([
  ["HEAD", "@", "main", "heads/main", "refs/heads/main", "topic/side", "light", "v1", "v1-again", "of-tree"],
  [
    "main~",
    "main~2",
    "main^",
    "main^1",
    "main^2",
    "main^0",
    "main^2~1",
    "main~1^",
    "HEAD~~",
    "@^^",
    "v1~",
    "v1-again^0",
  ],
  ["v1^{}", "v1-again^{}", "v1-again^{tag}", "v1^{commit}", "main^{tree}", "v1^{tree}", "of-tree^{}", "main^{object}"],
  ["main:a/b/file", "main:a", "main:a/", "main:", "v1:a/b", "of-tree:a/b/file", "main~1^{tree}:a"],
])("revisions mean what git says: %s, …", async (...texts) => {
  for (const text of texts) expect([text, await resolve(text)]).toEqual([text, await parse(text)]);
});

test("ids may be abbreviated", async () => {
  const oid = await parse("main~1");
  expect(await resolve(oid)).toBe(oid);
  expect(await resolve(oid.slice(0, 10))).toBe(oid);
  expect(await resolve(`${oid.slice(0, 10).toUpperCase()}^`)).toBe(await parse("main~2"));
  await expect(resolve(oid.slice(0, 3))).rejects.toMatchObject({ code: "not-found" });
});

test.each([
  ["nothing", "not-found"],
  ["main~9", "not-found"],
  ["main^3", "not-found"],
  ["main:a/c", "not-found"],
  ["main:a/b/file/more", "not-found"],
  ["0".repeat(40), "not-found"],
  ["main^{blob}", "wrong-type"],
  ["of-tree~", "wrong-type"],
  ["main^{nothing}", "invalid"],
  ["main@{1}", "not-found"],
  ["main^-", "invalid"],
  ["", "not-found"],
])("%s is refused as %s", async (text, code) => {
  await expect(resolve(text)).rejects.toMatchObject({ code });
});

test("what no ref leads to is not there", async () => {
  await git(dir, "checkout", "-q", "-b", "gone", "main");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "gone");
  const pushed = new PushedRepository();
  await pushed.pushFrom(dir, { "refs/heads/main": "main", "refs/heads/gone": "gone" });
  await pushed.pushFrom(dir, { "refs/heads/gone": null });
  const open = new OpenRepository(pushed.repository.state, ANYONE, async () => undefined);
  const oid = await parse("gone");
  expect(pushed.tables.objects.find(Uint8Array.fromHex(oid))).not.toBe(null);
  await expect(resolveRevision(open, oid)).rejects.toMatchObject({ code: "not-found" });
  await expect(resolveRevision(open, oid.slice(0, 12))).rejects.toMatchObject({ code: "not-found" });
});
