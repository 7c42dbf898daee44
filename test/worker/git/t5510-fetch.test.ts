import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, listRefs, makeRepository } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { describeSome } from "../../harness/sweep.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { StoredRepository } from "../../object/stored-repository.ts";
import { type FetchServer, startFetchServer } from "./fetch-server.ts";
import { countMissing, countReceived } from "../../harness/received-pack.ts";

const SHAPE = { commits: 120, files: 60, branches: 6, merges: 4, tags: 10 };

const STORED: readonly (readonly [string, { chunkBytes: number; hot?: boolean }])[] = [
  ["small chunks", { chunkBytes: 2_000 }],
  ["large chunks", { chunkBytes: 2_000_000 }],
  ["hot chunks", { chunkBytes: 50_000, hot: true }],
];

describeSome(1, STORED, "one push in %s", ([, options]) => {
  let origin: string;
  let server: FetchServer;
  beforeAll(async () => {
    origin = await makeHistory(SHAPE);
    const repository = new StoredRepository(options);
    await repository.push(origin);
    server = await startFetchServer(repository, repository.chunkStore);
  });
  afterAll(() => server.close());

  test.each([0, 1, 2])("a mirror clone by protocol v%i is identical", async (version) => {
    const clone = join(makeTempDir("clone"), "clone.git");
    await git(makeTempDir("cwd"), "-c", `protocol.version=${version}`, "clone", "-q", "--mirror", server.url, clone);
    expect(await listRefs(clone)).toBe(await listRefs(origin));
    expect(await git(clone, "fsck", "--full")).toBe("");
    expect(await git(clone, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
  });

  test.each(["side-0", "side-3", "side-5", "v3", "main~30"])(
    "a fetch of %s alone brings what it leads to",
    async (name) => {
      const clone = await makeRepository("clone.git", "--bare");
      const oid = await git(origin, "rev-parse", name);
      expect(await countReceived(clone, "fetch", "-q", "--no-tags", server.url, oid)).toBe(
        await countMissing(origin, [oid], []),
      );
      expect(await git(clone, "fsck", "--full", oid)).toBe("");
    },
  );

  test.each([
    ["main~100", "main"],
    ["side-4", "main"],
    ["main", "side-5"],
    ["side-1", "side-5"],
    ["main~60", "main~20"],
  ])("from %s to %s, no object is sent too many", async (old, wanted) => {
    // Protocol 0 allows only advertised tips.
    for (const version of wanted.includes("~") ? [2] : [0, 2]) {
      const clone = await makeRepository("clone.git", "--bare");
      const [from, to] = [await git(origin, "rev-parse", old), await git(origin, "rev-parse", wanted)];
      await git(clone, "fetch", "-q", "--no-tags", origin, `${from}:refs/heads/old`);
      const args = [
        "-c",
        `protocol.version=${version}`,
        "fetch",
        "-q",
        "--no-tags",
        server.url,
        `${to}:refs/heads/new`,
      ];
      expect(await countReceived(clone, ...args)).toBe(await countMissing(origin, [to], [from]));
      expect(await git(clone, "fsck", "--full")).toBe("");
    }
  });
});

test("many pushes, fetched one by one into an old clone and whole into a new one", { tags: "sweep" }, async () => {
  const origin = await makeRepository("origin.git", "--bare");
  const source = await makeHistory({ ...SHAPE, seed: 2 });
  const repository = new StoredRepository({ chunkBytes: 1_000 });
  const server = await startFetchServer(repository, repository.chunkStore);
  const old = await makeRepository("old.git", "--bare");
  let before: string[] = [];
  const commits = (await git(source, "rev-list", "--first-parent", "--reverse", "main")).split("\n");
  for (const [i, commit] of commits.entries()) {
    if (i % 4 !== 0) continue;
    await git(origin, "fetch", "-q", "--no-tags", source, `+${commit}:refs/heads/main`);
    await repository.push(origin);
    const received = await countReceived(old, "fetch", "-q", "--no-tags", server.url, "+main:main");
    expect(received).toBe(await countMissing(origin, ["main"], before));
    before = [commit];
  }
  expect(await git(old, "fsck", "--full")).toBe("");
  const fresh = join(makeTempDir("fresh"), "clone.git");
  await git(makeTempDir("cwd"), "clone", "-q", "--mirror", server.url, fresh);
  expect(await git(fresh, "fsck", "--full")).toBe("");
  expect(await listRefs(fresh)).toBe(await listRefs(origin));
  await server.close();
});
