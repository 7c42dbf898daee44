/** Uploads of what `git bundle create` makes: a bundle in parts is a step. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProblems } from "../../harness/find-problems.ts";
import { git } from "../../harness/git.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { type Upload, UploadBench } from "../../harness/upload-bench.ts";
import { testSome } from "../../harness/sweep.ts";

let bench: UploadBench;

beforeAll(async () => {
  bench = await UploadBench.open();
});
afterAll(() => bench.close());

/** A bundle of these revisions, which have names. */
async function bundle(...revisions: string[]): Promise<Buffer> {
  const path = join(makeTempDir("bundle"), "history.bundle");
  await git(bench.dir, "bundle", "create", "-q", path, ...revisions);
  return readFileSync(path);
}

async function begin(name: string): Promise<Upload> {
  await bench.makeRepository(name);
  return bench.begin(name);
}

test("a history comes as bundles, each of which needs the one before", { tags: "sweep" }, async () => {
  const name = "me/bundles";
  const [old, tip] = [bench.commits[30]!, bench.commits.at(-1)!];
  await git(bench.dir, "branch", "-f", "old", old);
  const upload = await begin(name);
  const first = await bench.putPack(name, upload, 1, await bundle("old"));
  const second = await bench.putPack(name, upload, 100, await bundle("main", "^old"));
  const early = await bench.index(name, upload, second, [tip]);
  expect([early.status, early.body.error!.message]).toEqual([422, expect.stringMatching(/missing|neither in it/)]);
  expect((await bench.index(name, upload, first, [old])).status).toBe(200);
  expect((await bench.index(name, upload, second, [tip])).body).toMatchObject({ steps: 2, tips: [tip] });
  const done = await bench.complete(name, upload, { "refs/heads/main": [null, tip] });
  expect(done.body.refs).toEqual([{ name: "refs/heads/main", refused: null }]);
  const clone = join(makeTempDir("clone"), "copy.git");
  await git(bench.dir, "clone", "-q", "--bare", `${bench.server.url}/${name}`, clone);
  await git(clone, "fsck", "--full", "--strict");
  const list = ["rev-list", "--objects", "--no-object-names", "main"];
  expect(await git(clone, ...list)).toBe(await git(bench.dir, ...list));
  expect(await findProblems(`${bench.server.url}/${name}`)).toEqual([]);
});

test("a bundle's header may come in parts of any size", async () => {
  const name = "me/small-parts";
  await git(bench.dir, "branch", "-f", "start", bench.commits[0]!);
  const bytes = await bundle("start");
  const upload = await begin(name);
  const packAt = bytes.indexOf("\n\n") + 2;
  const cuts = [0, 1, 20, packAt - 1, packAt, packAt + 3, bytes.length];
  const parts = cuts.slice(1).map((_, i) => i + 1);
  for (const part of parts) {
    expect((await bench.put(name, upload, part, bytes.subarray(cuts[part - 1], cuts[part]))).status).toBe(204);
  }
  const { status, body } = await bench.index(name, upload, parts, [bench.commits[0]!]);
  expect([status, body.steps]).toEqual([200, 1]);
});

const BUNDLES: readonly (readonly [string, text: string, reason: string])[] = [
  ["that is cut in its header", `# v2 git bundle\n-${"1".repeat(40)}`, "its header is cut short"],
  ["of another version", "# v3 git bundle\n@object-format=sha256\n\nPACK", "only version 2 is supported"],
  ["without a pack", `# v2 git bundle\n${"1".repeat(40)} refs/heads/main\n\n`, "pack"],
];

testSome(1, BUNDLES, "a bundle %s is refused with the reason", async ([what, text, reason]) => {
  const name = `me/${what.replaceAll(" ", "-")}`;
  const upload = await begin(name);
  const parts = await bench.putPack(name, upload, 1, Buffer.from(text));
  const { status, body } = await bench.index(name, upload, parts, [bench.commits[0]!]);
  expect([status, body.error!.message]).toEqual([422, expect.stringContaining(reason)]);
  expect((await bench.remove(name, upload)).status).toBe(204);
  await bench.awaitGone(upload.id);
});
