// Which objects of Git LFS forks have: those that their own refs reach, from the first moment on.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { toHex } from "../../../src/base/format/oid.ts";
import { withBranch } from "../../../src/object/forks/borrow.ts";
import { findLfsObject, lfsBatch, listLfsObjects } from "../../../src/object/lfs/lfs-objects.ts";
import type { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { newLfsKey } from "../../../src/object/store/lfs/lfs-table.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { type ClientObject, objectOf, pointerOf } from "../../harness/lfs.ts";
import { ANYONE } from "../../harness/requester.ts";
import { housekeep } from "../maintenance/housekeep.ts";
import { FamilyWorld } from "./family-world.ts";

const HOUR_MS = 60 * 60_000;
const MAIN = "refs/heads/main";
const SECRET = "refs/heads/secret";
const ALLOW_MISSING = { pushOptions: ["lfs=allow-missing"] };

const kept = objectOf("what main names");
const secret = objectOf("what only the branch secret names");
const unnamed = objectOf("what nothing names");
const ALL = [kept, secret, unnamed];

let world: FamilyWorld;
let dir: string;

beforeEach(async () => {
  world = new FamilyWorld();
  dir = await makeRepository("lfs");
  await commit("main", { "a.bin": pointerOf(kept) });
  await git(dir, "checkout", "-q", "-b", "secret");
  await commit("secret", { "b.bin": pointerOf(secret) });
  make("parent");
});

function make(id: string): void {
  world.reserve(id);
  world.look(id).repository.state.create(MAIN);
}

async function commit(branch: string, files: Record<string, string>): Promise<void> {
  await git(dir, "checkout", "-q", branch).catch(() => undefined);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(dir, path), text);
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "files");
}

async function push(id: string, refs: Record<string, string | null>, options = {}): Promise<void> {
  const { unpack } = await world.ask(id, (repository) => repository.pushFrom(dir, refs, options));
  expect(unpack).toBe("ok");
}

/** Stores objects as uploads do. */
async function store(id: string, objects: readonly ClientObject[]): Promise<void> {
  const { tables, repository, chunks } = world.look(id);
  for (const { oid, size, bytes } of objects) {
    const key = newLfsKey(repository.state.key, oid);
    await chunks.put(key, bytes);
    tables.lfs.begin(tables.objects.lastNumber());
    tables.lfs.add({ oid, sizeBytes: size, key }, Date.now());
  }
}

/** A parent with all objects, whose pointer files an older release took. */
async function makeOldParent(): Promise<void> {
  await push("parent", { [MAIN]: "main", [SECRET]: "secret" }, ALLOW_MISSING);
  const { sql } = world.look("parent");
  for (const table of ["lfs_objects", "lfs_pointers", "lfs_scan"]) sql.exec(`DROP TABLE ${table}`);
  await store("parent", ALL);
}

async function fork(id: string, parent: string, branches: readonly string[] | null): Promise<void> {
  world.reserve(id);
  const request = { parent, branches, expiresMs: null, who: null };
  expect(await world.ask(id, ({ repository }) => repository.fork(request))).toBe(true);
}

/** Has pointer files looked for; the grace period of objects is far longer. */
const runJobs = (id: string): Promise<void> =>
  world.ask(id, (repository) => housekeep(repository, Date.now() + HOUR_MS));

/** What every door of a repository tells of the objects: the ids that it has, or its refusal. */
async function ask(id: string): Promise<unknown> {
  const { repository, tables } = world.look(id);
  const open = { state: repository.state, tables, requester: ANYONE } as unknown as OpenRepository;
  const codeOf = (error: unknown): unknown => (error as { code: string }).code;
  const wanted = ALL.map(({ oid, size }) => ({ oid, sizeBytes: size }));
  const batch = {
    operation: "download",
    objects: wanted,
    ref: null,
    largestBytes: 1e9,
    signedAboveBytes: null,
  } as const;
  const named = async (objects: Promise<readonly { oid: string }[]>): Promise<unknown> =>
    objects.then((all) => all.map(({ oid }) => nameOf(oid)).toSorted()).catch(codeOf);
  const single = await Promise.all(ALL.map(({ oid }) => findLfsObject(open, oid).then(() => nameOf(oid), codeOf)));
  return {
    batch: await named(lfsBatch(open, batch).then(({ found }) => found)),
    listed: await named(listLfsObjects(open, { which: "stored", after: "", limit: 100 })),
    single,
    count: tables.lfs.sums().count,
  };
}

const nameOf = (oid: string): string => ["kept", "secret", "unnamed"][ALL.findIndex((object) => object.oid === oid)]!;

const ONLY_KEPT = { batch: ["kept"], listed: ["kept"], single: ["kept", "not-found", "not-found"], count: 1 };
const UNKNOWN_YET = {
  batch: "unavailable",
  listed: "unavailable",
  single: ["unavailable", "unavailable", "unavailable"],
  count: 0,
};

test("a fork of some branches has what these name at once, and never what only the others name", async () => {
  // The first object comes when the repository has commits already.
  await push("parent", { [MAIN]: "main" }, ALLOW_MISSING);
  await store("parent", ALL);
  await push("parent", { [SECRET]: "secret" });
  await fork("part", "parent", ["main"]);
  expect(await ask("part")).toEqual(ONLY_KEPT);
  await fork("whole", "parent", null);
  expect(await ask("whole")).toMatchObject({ listed: ["kept", "secret"], count: 2 });
  // Nobody keeps the others for them.
  await world.drain();
  expect(await ask("part")).toEqual(ONLY_KEPT);
  const { tables } = world.look("part");
  expect(tables.lfs.keys()).toEqual([expect.stringContaining(kept.oid)]);
  await world.check(await world.refs());
});

test("as long as pointer files are unknown, a fork has no object and says so; a fork of it likewise", async () => {
  await makeOldParent();
  await fork("part", "parent", ["main"]);
  expect(await ask("part")).toEqual(UNKNOWN_YET);
  await fork("second", "part", null);
  expect(await ask("second")).toEqual(UNKNOWN_YET);
  // A pointer file that is pushed to the fork gets nothing of the parent's.
  await commit("main", { "stolen.bin": pointerOf(secret) });
  const refused = await world.ask("part", (repository) => repository.pushFrom(dir, { [MAIN]: "main" }));
  expect(refused.unpack).toContain(secret.oid);
  await push("part", { [MAIN]: "main" }, ALLOW_MISSING);
  await fork("third", "part", null);
  for (const id of ["part", "second", "third"]) {
    await runJobs(id);
    expect([id, await ask(id)]).toEqual([id, ONLY_KEPT]);
  }
  expect(world.look("part").tables.lfs.missing("", 10)).toMatchObject([{ oid: secret.oid }]);
  expect(world.look("third").tables.lfs.keys()).toHaveLength(1);
  await world.drain();
  await world.check(await world.refs());
});

test("what a fork is sent while it withholds an object of that name is its own", async () => {
  await makeOldParent();
  await fork("part", "parent", ["main"]);
  await store("part", [secret]);
  await store("part", [kept]);
  await runJobs("part");
  const keys = world.look("part").tables.lfs.keys();
  const own = [kept, secret].map(({ oid }) => oid).toSorted();
  expect(keys.toSorted()).toEqual(own.map((oid) => expect.stringMatching(`^part/lfs/${oid}`)));
  await world.check(await world.refs());
});

test("a pointer file that is only there as a delta's base names nothing", async () => {
  await store("parent", ALL);
  const version = "version https://git-lfs.github.com/spec/v1\n";
  const padded = ({ oid, size }: ClientObject, more: string): string =>
    `${version}${`ext-0-pad sha256:${"ef".repeat(32)}\n`.repeat(8)}${more}oid sha256:${oid}\nsize ${size}\n`;
  await commit("secret", { "long.bin": padded(secret, `ext-1-x sha256:${"ab".repeat(32)}\n`) });
  await commit("main", { "long.bin": padded(kept, "") });
  await push("parent", { [SECRET]: "secret", [MAIN]: "main" });
  await fork("part", "parent", ["main"]);
  expect(world.look("part").tables.objects.hidden().size).toBeGreaterThan(0);
  expect(await ask("part")).toEqual(ONLY_KEPT);
});

test("commits of another repository bring their objects once a ref reaches them, and none before", async () => {
  await store("parent", ALL);
  await push("parent", { [MAIN]: "main", [SECRET]: "secret" });
  make("upstream");
  await store("upstream", [kept]);
  await push("upstream", { [MAIN]: "main" });
  const before = await ask("upstream");
  const source = { repository: "parent", branch: "secret" };
  const tip = await git(dir, "rev-parse", "secret");
  // What a merge that is only tried does, or one that fails.
  await world.ask("upstream", ({ repository: { state } }) =>
    withBranch(state, source, null, async (oid) => {
      expect([toHex(oid), state.tables!.objects.find(oid)]).toEqual([tip, expect.anything()]);
      expect(await ask("upstream")).toEqual(before);
    }),
  );
  expect(await ask("upstream")).toEqual(before);

  await world.ask("upstream", ({ repository }) => repository.call("syncBranch", { branch: "main", source }, ANYONE));
  expect(await ask("upstream")).toMatchObject({ listed: ["kept", "secret"], single: ["kept", "secret", "not-found"] });
  await world.drain();
  await world.check(await world.refs());
});
