/** Cached access of a pusher that has expired is renewed before the push is applied. */
import { expect, test } from "vitest";
import type { Requester, Standing } from "../../../src/base/access/caller.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { ANSWER_LIFE_MS } from "../../../src/contract/registry.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";
import { ANYONE } from "../../harness/requester.ts";
import { PushedRepository } from "../pushing.ts";

// Too large for a row: its bytes are in the store before the push is applied.
const blob = makeObject("blob", new Random(7).bytes(600_000));
const tree = makeTree(["100644", "file", blob]);
const commit = makeCommit(tree);
const PUSH = [[["refs/heads/main", null, commit.oid]], packOf(blob, tree, commit)] as const;

const caller: Requester["caller"] = {
  kind: "token",
  knownMs: 0,
  token: {
    id: "one",
    name: "one",
    scope: { owner: "me" },
    right: "write",
    refs: null,
    createdMs: 0,
    expiresMs: null,
    lastUsedMs: null,
  },
};
const GOOD: Standing = { caller, right: "write", quota: ANYONE.quota };

const knownSince = (ageMs: number): Requester => ({ ...ANYONE, ...GOOD, knownMs: Date.now() - ageMs });

/** A repository whose registry gives this answer, and how often it was asked. */
function open(answer: () => Standing | null) {
  const chunks = new MemoryChunkStore();
  const asked: unknown[] = [];
  const registry = {
    nameOf: async () => null,
    admit: async () => true,
    report: async () => null,
    readStanding: async (...question: unknown[]) => (asked.push(question), answer()),
  };
  return { repository: new PushedRepository({ id: "r", chunks, registry }), chunks, asked };
}

const store = async (chunks: MemoryChunkStore): Promise<unknown[]> => Array.fromAsync(chunks.list(""));

test("a push asks once, and only when what it knows is old", async () => {
  const { repository, asked } = open(() => GOOD);
  const requester = knownSince(ANSWER_LIFE_MS - 5_000);
  expect((await repository.push(...PUSH, { requester })).unpack).toBe("ok");
  expect(asked).toEqual([]);
  const side = [[["refs/heads/side", null, commit.oid]], packOf(commit)] as const;
  expect((await repository.push(...side, { requester: knownSince(ANSWER_LIFE_MS) })).unpack).toBe("ok");
  expect(asked).toEqual([["r", caller]]);
  const forOpen = { ...ANYONE, knownMs: 0 };
  expect(
    (await repository.push([["refs/heads/open", null, commit.oid]], packOf(commit), { requester: forOpen })).unpack,
  ).toBe("ok");
  expect(asked).toHaveLength(1);
});

test.each([
  ["is good for nothing", null, "a valid token is needed: the one that was shown has been revoked, has expired"],
  ["may only read", { ...GOOD, right: "read" } as Standing, "the token has the right 'read'"],
])("a token that %s by now moves no ref, makes no repository and leaves nothing", async (_, standing, reason) => {
  const { repository, chunks } = open(() => standing);
  const result = await repository.receive(...PUSH, { requester: knownSince(ANSWER_LIFE_MS) });
  expect(result.unpack).toContain(reason);
  expect(result.refs).toEqual([{ name: "refs/heads/main", error: "unpacker error" }]);
  expect(repository.repository.state.tables).toBeNull();
  expect(await store(chunks)).not.toEqual([]);
  await repository.repository.runJobs(Date.now());
  expect(await store(chunks)).toEqual([]);
});

test("a deletion is held to it, too", async () => {
  let standing: Standing | null = GOOD;
  const { repository } = open(() => standing);
  await repository.push(...PUSH);
  await repository.push([["refs/heads/side", null, commit.oid]], packOf(commit));
  standing = null;
  const requester = knownSince(ANSWER_LIFE_MS);
  const { unpack } = await repository.push([["refs/heads/side", commit.oid, null]], null, { requester });
  expect(unpack).toContain("a valid token is needed");
  expect([...repository.refs().keys()]).toEqual(["refs/heads/main", "refs/heads/side"]);
});

test("a right that was lost takes what it was needed for along", async () => {
  const { repository } = open(() => GOOD);
  const requester: Requester = { ...knownSince(ANSWER_LIFE_MS), right: "admin" };
  const { unpack } = await repository.receive(...PUSH, { requester, pushOptions: ["fsck=lenient"] });
  expect(unpack).toContain("it needs the right 'admin'");
});

test("what holds of refs and quotas is what the registry says now", async () => {
  const quota = { ...ANYONE.quota, repository: { maxBytes: 1, maxObjects: null } };
  const full = open(() => ({ ...GOOD, quota }));
  const requester = knownSince(ANSWER_LIFE_MS);
  expect((await full.repository.receive(...PUSH, { requester })).unpack).toContain("that is the quota");
  const refs = [{ pattern: "refs/heads/own/*", noForce: false, noDelete: false }];
  const bound = open(() => ({
    ...GOOD,
    caller: { ...caller, token: { ...caller.token, refs } } as Requester["caller"],
  }));
  const { refs: outcomes } = await bound.repository.receive(...PUSH, { requester });
  expect(outcomes).toMatchObject([{ error: "protected: this token may not change this ref" }]);
});

test("where the registry cannot be asked, nothing lands", async () => {
  const { repository } = open(() => {
    throw new Error("the registry cannot be reached");
  });
  const requester = knownSince(ANSWER_LIFE_MS);
  await expect(repository.receive(...PUSH, { requester })).rejects.toMatchObject({ code: "unavailable" });
  expect(repository.repository.state.tables).toBeNull();
});

test("a commit through the API is refused, and says why", async () => {
  let standing: Standing | null = GOOD;
  const { repository } = open(() => standing);
  await repository.push(...PUSH);
  standing = null;
  const person = { name: "A", email: "a@example.com", timeSeconds: 1, zone: "+0000" };
  const request = {
    branch: "main",
    startPoint: null,
    base: null,
    onConflict: "merge",
    message: "m\n",
    author: person,
    committer: person,
    allowEmpty: true,
    operations: [],
  };
  const outcome = await repository.repository.call("commit", request, knownSince(ANSWER_LIFE_MS));
  expect(outcome).toMatchObject({ kind: "failed", code: "unauthenticated" });
  expect(repository.refs().get("refs/heads/main")).toBe(commit.oid);
});
