import { beforeEach, expect, test } from "vitest";
import type { Caller, Token, TokenScope } from "../../../../src/base/access/caller.ts";
import type { RepositoryName } from "../../../../src/base/format/repository-name.ts";
import {
  MAX_COUNTED_FORKS,
  type RepositoryStanding,
  type RepositoryDetails,
} from "../../../../src/contract/registry.ts";
import { NAME_HOLD_MS, RESERVATION_MS } from "../../../../src/object/store/registry/registry-answers.ts";
import { Registry } from "../../../../src/object/store/registry/registry.ts";
import { NodeTransactor } from "../../pushing.ts";
import { ANYONE } from "../../../harness/requester.ts";
import { NodeSql } from "../../sqlite.ts";

const DETAILS: RepositoryDetails = { description: "Mine", visibility: "public" };
const LIVE: RepositoryStanding = {
  kind: "live",
  defaultBranch: "main",
  createdMs: 5,
  pushedMs: null,
  sizeBytes: 7,
  objectCount: 3,
  sharedBytes: 0,
  expiresMs: null,
  parentId: null,
};

const READER: Omit<Token, "scope"> = {
  id: "token",
  name: "a reader's",
  right: "read",
  refs: null,
  createdMs: 0,
  expiresMs: null,
  lastUsedMs: null,
};

let sql: NodeSql;
let registry: Registry;
beforeEach(() => {
  sql = new NodeSql();
  registry = new Registry(sql, new NodeTransactor(sql));
});

function named(path: string): RepositoryName {
  const [owner, name] = path.split("/") as [string, string];
  return { owner, name };
}

/** Creates a repository, as its object would confirm. */
function create(path: string, nowMs = 0): string {
  const outcome = registry.create(named(path), DETAILS, nowMs);
  if (outcome.kind !== "reserved") throw new Error(`${path} is ${outcome.kind}`);
  registry.report(outcome.id, LIVE, nowMs);
  return outcome.id;
}

const listed = (owner: string | null = null) =>
  registry.list(owner, null, 1_000, ANYONE.caller).map(({ owner: o, name }) => `${o}/${name}`);

test("a reserved name is shown to nobody, and leads to the same repository for all who push to it", () => {
  const { id } = registry.reserve(named("me/a"), 0);
  expect(registry.reserve(named("ME/A"), 1)).toMatchObject({ id, isFormer: false });
  expect(registry.find(named("me/A"))).toMatchObject({ id, isFormer: false });
  expect(registry.read(named("me/a"))).toBeNull();
  expect(registry.update(id, { description: "x" }, 1)).toBeNull();
  expect(listed()).toEqual([]);
  expect(registry.admit(id, 2)).toBe(true);
  registry.report(id, { ...LIVE, pushedMs: 9 }, 3);
  const { kind: _kind, parentId: _parent, ...figures } = LIVE;
  expect(registry.read(named("ME/a"))).toEqual({
    ...figures,
    parent: null,
    id,
    owner: "me",
    name: "a",
    description: null,
    visibility: "private",
    pushedMs: 9,
  });
});

test("forks are listed to those who may read them, and outlive what they were made of", () => {
  const root = create("me/root");
  const fork = (path: string, parentId: string, visibility: "public" | "private" = "public"): string => {
    const id = create(path);
    registry.report(id, { ...LIVE, parentId }, 1);
    registry.update(id, { visibility }, 1);
    return id;
  };
  const first = fork("you/first", root);
  const hidden = fork("you/hidden", root, "private");
  fork("me/second", root);
  fork("you/of-first", first);
  const forksOf = (id: string, caller: Caller = { kind: "anonymous" }, limit = 100) => {
    const { forks, next } = registry.listForks(id, null, limit, caller);
    return [forks.map(({ owner, name }) => `${owner}/${name}`), next?.name ?? null];
  };
  expect(forksOf(root)).toEqual([["me/second", "you/first"], null]);
  expect(forksOf(root, { kind: "operator" })).toEqual([["me/second", "you/first", "you/hidden"], null]);
  expect(forksOf(root, { kind: "anonymous" }, 1)).toEqual([["me/second"], "second"]);
  // Nothing tells of the hidden one: there is no next page for it.
  expect(forksOf(root, { kind: "anonymous" }, 2)).toEqual([["me/second", "you/first"], null]);
  expect(forksOf(root, { kind: "operator" }, 2)).toEqual([["me/second", "you/first"], "first"]);
  const of = (scope: TokenScope) => forksOf(root, { kind: "token", token: { ...READER, scope }, knownMs: 0 })[0];
  expect(of({ owner: "YOU" })).toEqual(["me/second", "you/first", "you/hidden"]);
  expect(of({ repositoryId: hidden })).toEqual(["me/second", "you/first", "you/hidden"]);
  expect(of({ owner: "me" })).toEqual(["me/second", "you/first"]);
  expect(registry.read(named("you/of-first"))!.parent).toMatchObject({ id: first, owner: "you", name: "first" });
  registry.report(first, { kind: "deleted" }, 2);
  expect(registry.read(named("you/of-first"))!.parent).toMatchObject({ id: root, name: "root" });
  const relativesOf = (id: string, owner: string, name: string | null = null) =>
    registry.findRelatives(id, owner, name).map((entry) => entry.name);
  expect(relativesOf(root, "you", "of-first")).toEqual(["of-first"]);
  expect(relativesOf(registry.read(named("you/of-first"))!.id, "me", "root")).toEqual(["root"]);
  expect(relativesOf(root, "you")).toHaveLength(2);
  expect(relativesOf(create("me/stranger"), "you")).toEqual([]);
  // What it says of itself is as old as it is.
  registry.report(registry.read(named("you/of-first"))!.id, { ...LIVE, parentId: first }, 3);
  expect(registry.read(named("you/of-first"))!.parent).toMatchObject({ id: root });
});

test("forks are counted for whom they are shown to, up to a limit", () => {
  const root = create("me/root");
  for (let i = 0; i < MAX_COUNTED_FORKS + 5; i++) {
    const id = create(`me/fork-${`${i}`.padStart(4, "0")}`);
    registry.report(id, { ...LIVE, parentId: root }, 1);
    if (i >= 12) registry.update(id, { visibility: "private" }, 1);
  }
  const firstOf = (caller: Caller) => {
    const { first, count } = registry.readWithForks(named("me/root"), 10, caller)!.forks;
    return [first.map(({ name }) => name).join(), count];
  };
  const ten = Array.from({ length: 10 }, (_, i) => `fork-000${i}`).join();
  expect(firstOf({ kind: "anonymous" })).toEqual([ten, 12]);
  expect(firstOf({ kind: "operator" })).toEqual([ten, MAX_COUNTED_FORKS]);
  expect(registry.readWithForks(named("me/fork-0000"), 10, { kind: "operator" })!.forks).toEqual({
    first: [],
    count: 0,
  });
  expect(registry.readWithForks(named("me/none"), 10, { kind: "operator" })).toBeNull();
});

test("a registry of an older release gets what forks need", () => {
  sql = new NodeSql();
  registry = new Registry(sql, new NodeTransactor(sql));
  create("me/a");
  sql.exec("DROP INDEX forks_shown");
  sql.exec("DROP INDEX relatives");
  for (const column of ["parent", "family", "shared", "expires_ms"])
    sql.exec(`ALTER TABLE repositories DROP COLUMN ${column}`);
  registry = new Registry(sql, new NodeTransactor(sql));
  expect(registry.read(named("me/a"))).toMatchObject({ parent: null, sharedBytes: 0, expiresMs: null });
});

test("nobody is admitted whom no name is kept for", () => {
  expect(registry.admit("unknown", 0)).toBe(false);
  registry.report("unknown", LIVE, 0);
  expect(listed()).toEqual([]);
  const id = create("me/a");
  registry.report(id, { kind: "deleted" }, 1);
  expect(registry.admit(id, 1)).toBe(false);
  // A late report changes nothing.
  registry.report(id, LIVE, 2);
  expect(registry.find(named("me/a"))).toBeNull();
});

test("one that creates takes over what a push reserved, and nothing else", () => {
  const { id } = registry.reserve(named("me/a"), 0);
  expect(registry.create(named("Me/A"), DETAILS, 1)).toEqual({ kind: "reserved", id });
  registry.report(id, LIVE, 2);
  expect(registry.read(named("me/a"))).toMatchObject({ owner: "Me", name: "A", ...DETAILS });
  expect(registry.create(named("me/a"), DETAILS, 3)).toEqual({
    kind: "taken",
    by: expect.objectContaining({ owner: "Me", name: "A" }) as unknown,
  });
});

test("a reservation lapses when its repository says that it came to nothing, an hour later at the soonest", async () => {
  const lost = registry.reserve(named("me/lost"), 0);
  const slow = registry.reserve(named("me/slow"), 0);
  const late = registry.reserve(named("me/late"), 0);
  const fresh = registry.reserve(named("me/fresh"), RESERVATION_MS - 10);
  const asked: string[] = [];
  const nextMs = await registry.lookIntoReservations(RESERVATION_MS, async (id) => {
    asked.push(id);
    // One was created but could not report it, one still receives a push, one is requested again
    // meanwhile.
    if (id === slow.id) throw new Error("not reached");
    if (id === late.id) registry.report(id, LIVE, RESERVATION_MS);
    else registry.report(id, { kind: "absent" }, RESERVATION_MS);
  });
  expect(asked.toSorted()).toEqual([lost.id, slow.id, late.id].toSorted());
  expect(registry.find(named("me/lost"))).toBeNull();
  expect(registry.find(named("me/slow"))).not.toBeNull();
  expect(registry.find(named("me/fresh"))?.id).toBe(fresh.id);
  expect(listed()).toEqual(["me/late"]);
  expect(nextMs).toBe(2 * RESERVATION_MS);

  // Reserved again between the question and the answer: the answer is about the earlier
  // reservation.
  registry.reserve(named("me/slow"), RESERVATION_MS);
  registry.report(slow.id, { kind: "absent" }, RESERVATION_MS);
  expect(registry.find(named("me/slow"))?.id).toBe(slow.id);
  // A repository that exists is not removed because it was absent earlier.
  registry.report(late.id, { kind: "absent" }, 10 * RESERVATION_MS);
  expect(listed()).toEqual(["me/late"]);
});

test("no reservation, no next look", async () => {
  create("me/a");
  expect(await registry.lookIntoReservations(RESERVATION_MS, () => Promise.reject(new Error("asked")))).toBeNull();
});

test("a name that was left leads to its repository, unremembered, until another takes it after a while", () => {
  const id = create("me/old");
  expect(registry.update(id, { name: "new" }, 1_000)).toMatchObject({ kind: "updated", entry: { id, name: "new" } });
  expect(registry.find(named("me/new"))).toMatchObject({ id, isFormer: false });
  expect(registry.find(named("Me/Old"))).toMatchObject({ id, isFormer: true });
  expect(registry.reserve(named("me/old"), 2_000)).toMatchObject({ id, isFormer: true });
  expect(registry.read(named("me/old"))).toMatchObject({ id, name: "new" });

  const held = { kind: "held", retryAfterMs: NAME_HOLD_MS - 1_000 };
  expect(registry.create(named("me/old"), DETAILS, 2_000)).toEqual(held);
  const other = create("me/other");
  expect(registry.update(other, { name: "OLD" }, 2_000)).toEqual(held);
  const free = 1_000 + NAME_HOLD_MS;
  expect(registry.update(other, { name: "OLD" }, free)).toMatchObject({ kind: "updated" });
  expect(registry.find(named("me/old"))).toMatchObject({ id: other, isFormer: false });
  expect(registry.find(named("me/other"))).toMatchObject({ id: other, isFormer: true });
});

test("a repository takes its own old name back at once, and its names go with it", () => {
  const id = create("me/a");
  registry.update(id, { name: "b" }, 0);
  registry.update(id, { name: "c" }, 0);
  expect(registry.update(id, { name: "a" }, 0)).toMatchObject({ kind: "updated" });
  for (const [path, isFormer] of [
    ["me/a", false],
    ["me/b", true],
    ["me/c", true],
  ] as const) {
    expect([path, registry.find(named(path))]).toMatchObject([path, { id, isFormer }]);
  }
  registry.report(id, { kind: "deleted" }, 0);
  for (const path of ["me/a", "me/b", "me/c"]) expect([path, registry.find(named(path))]).toEqual([path, null]);
  create("me/b", 0);
});

test("another spelling of its own name is no other name", () => {
  const id = create("me/a");
  expect(registry.update(id, { owner: "ME", visibility: "private" }, 0)).toMatchObject({
    kind: "updated",
    entry: { owner: "ME", name: "a", visibility: "private", description: "Mine" },
  });
  expect(registry.find(named("me/a"))).toMatchObject({ id, isFormer: false });
  create("me/b");
  expect(registry.update(id, { name: "B", description: null }, 0)).toMatchObject({ kind: "taken", by: { name: "b" } });
  // A refused change changes nothing.
  expect(registry.read(named("me/a"))).toMatchObject({ owner: "ME", description: "Mine" });
});

test("a list is in the order of names whatever their case, by owner or all, page by page", () => {
  const paths = ["b/x", "a/Z", "A/b", "a/c", "a-b/a", "b/Y", "a.b/q", "a_b/q"];
  for (const path of paths) create(path);
  registry.reserve(named("a/reserved"), 0);
  const all = ["A/b", "a/c", "a/Z", "a-b/a", "a.b/q", "a_b/q", "b/x", "b/Y"];
  expect(listed()).toEqual(all);
  expect(listed("A")).toEqual(["A/b", "a/c", "a/Z"]);
  expect(listed("nobody")).toEqual([]);
  const paged: string[] = [];
  for (let after: RepositoryName | null = null; ;) {
    const page = registry.list(null, after, 3, ANYONE.caller);
    if (page.length === 0) break;
    paged.push(...page.map(({ owner, name }) => `${owner}/${name}`));
    after = page.at(-1)!;
  }
  expect(paged).toEqual(all);
  expect(registry.list("a", named("A/B"), 1, ANYONE.caller)).toMatchObject([{ name: "c" }]);
});

test("a page is read from the index, not by sorting", () => {
  const query = `EXPLAIN QUERY PLAN SELECT id FROM repositories WHERE (owner, name) > ('a', 'b') AND owner BETWEEN 'a' AND 'a'
    AND state = 'live' ORDER BY owner, name LIMIT 3`;
  const plan = sql
    .exec<{ detail: string }>(query)
    .toArray()
    .map(({ detail }) => detail);
  expect(plan.join("\n")).toMatch(/SEARCH repositories USING (COVERING )?INDEX/);
  expect(plan.join("\n")).not.toContain("TEMP B-TREE");
});

test("a repository that reports hears that somebody listens to its owner, whoever that is by then", () => {
  const id = create("me/one");
  expect(registry.report(id, LIVE, 1)).toBeNull();
  registry.listening.set("me", 7);
  expect(registry.report(id, LIVE, 2)).toEqual({ owner: "me", sinceMs: 7 });
  registry.update(id, { owner: "You" }, 3);
  expect(registry.report(id, LIVE, 4)).toBeNull();
  registry.listening.set("you", 8);
  expect(registry.report(id, LIVE, 5)).toEqual({ owner: "You", sinceMs: 8 });
  expect(registry.report(id, { kind: "deleted" }, 6)).toBeNull();
  registry.listening.set("YOU", null);
  registry.listening.set("me", null);
  expect(registry.listening.isAny()).toBe(false);
});

test("a registry has begun once it notes so, or is an older release's", () => {
  const again = (): Registry => new Registry(sql, new NodeTransactor(sql));
  expect(registry.hasBegun()).toBe(false);
  // A process that ended before it noted anything.
  expect(again().hasBegun()).toBe(false);
  registry.begin(5);
  expect(again().hasBegun()).toBe(true);
  sql.exec("DROP TABLE begun");
  expect(again().hasBegun()).toBe(true);
});
