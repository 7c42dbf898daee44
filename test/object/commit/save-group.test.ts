import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Caller, Requester } from "../../../src/base/access/caller.ts";
import { MAX_SHARED_COMMITS } from "../../../src/base/format/limits.ts";
import type { CommitAnswer, CommitRequest } from "../../../src/contract/commits.ts";
import type { Transactor } from "../../../src/object/store/sql/sql.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { ANYONE } from "../../harness/requester.ts";
import { NodeTransactor, PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import type { CallOutcome } from "../../../src/contract/calls.ts";

const ADA = { name: "Ada", email: "ada@example.com", timeSeconds: 1_700_000_000, zone: "+0000" };
const MAIN = "refs/heads/main";

const files = Array.from({ length: 80 }, (_, i) => makeObject("blob", `file ${i}\n`));
const folders = [0, 1].map((folder) =>
  makeTree(...files.slice(40 * folder, 40 * folder + 40).map((file, i) => ["100644", nameOf(i), file] as const)),
);
const root = makeTree(...folders.map((folder, i) => ["40000", `folder-${i}`, folder] as const));
const first = makeCommit(root, []);

function nameOf(file: number): string {
  return `file-${String(file).padStart(2, "0")}`;
}

/** Counts the transactions that begin, and lets one fail on demand. */
class CountingTransactor implements Transactor {
  readonly #inner: NodeTransactor;
  count = 0;
  hasNextFail = false;

  constructor(sql: NodeSql) {
    this.#inner = new NodeTransactor(sql);
  }

  transactionSync<T>(f: () => T): T {
    this.count += 1;
    return this.#inner.transactionSync(() => {
      const result = f();
      if (!this.hasNextFail) return result;
      this.hasNextFail = false;
      throw new Error("the disk is gone");
    });
  }
}

let repository: PushedRepository;
let transactor: CountingTransactor;
beforeEach(async () => {
  // How many saves share a transaction must not depend on the speed of this machine.
  vi.useFakeTimers({ toFake: ["Date"] });
  const sql = new NodeSql();
  transactor = new CountingTransactor(sql);
  repository = new PushedRepository({ sql, transactor });
  await repository.push([[MAIN, null, first.oid]], packOf(...files, ...folders, root, first));
  transactor.count = 0;
});

afterEach(() => {
  vi.useRealTimers();
});

/** Saves a file. */
function save(path: string, change: Partial<CommitRequest> = {}, requester: Requester = ANYONE): Promise<CallOutcome> {
  const request: CommitRequest = {
    branch: "main",
    startPoint: null,
    base: first.oid,
    onConflict: "merge",
    message: `Save ${path}\n`,
    author: ADA,
    committer: ADA,
    allowEmpty: false,
    operations: [{ op: "put", path, content: Buffer.from(`saved: ${path}\n`), mode: null }],
    ...change,
  };
  return repository.repository.call("commit", request, requester);
}

function answerOf(outcome: CallOutcome): CommitAnswer {
  if (outcome.kind !== "done") throw new Error(JSON.stringify(outcome));
  return outcome.value as CommitAnswer;
}

/** Runs the full check on a repository. */
async function expectSound(): Promise<void> {
  const request = { place: null, rules: "strict", repair: false, budgetSteps: 3_000_000 };
  const outcome = await repository.repository.call("fsck", request, ANYONE);
  expect(outcome).toMatchObject({ kind: "done", value: { problems: [], next: null } });
}

/** A client whose token may move some refs. */
function tokenFor(pattern: string): Requester {
  const refs = [{ pattern, noForce: false, noDelete: false }];
  const made = { createdMs: 0, expiresMs: null, lastUsedMs: null };
  const token = { id: pattern, name: "ci", scope: { owner: "me" }, right: "write", refs, ...made } as const;
  const caller: Caller = { kind: "token", token, knownMs: Date.now() };
  return { ...ANYONE, caller, right: "write", knownMs: Date.now() };
}

describe("saves of one branch that wait", () => {
  test("share a transaction, and are a push each to everybody else", async () => {
    const paths = Array.from({ length: 20 }, (_, i) => `folder-${i % 2}/${nameOf(i)}`);
    const answers = (await Promise.all(paths.map((path) => save(path)))).map(answerOf);
    expect(transactor.count).toBe(1);
    const { pushes } = repository.tables.pushes.page(null, 100, null);
    // The last is that of the repository's first commit.
    const oids = [first.oid, ...answers.map(({ commit }) => commit)];
    expect(pushes.slice(0, -1).map(({ refs }) => refs)).toEqual(
      answers.map((_, i) => [[MAIN, oids[i], oids[i + 1]]]).toReversed(),
    );
    expect(answers.map(({ parents }) => parents)).toEqual(oids.slice(0, -1).map((oid) => [oid]));
    expect(repository.refs().get(MAIN)).toBe(oids.at(-1));
    // For each: a blob, a directory, the root tree and the commit, in a chunk of their own.
    expect(pushes.slice(0, -1).map(({ objects }) => objects)).toEqual(paths.map(() => 4));
    const chunks = repository.tables.chunks.allInOrder().slice(1);
    expect(chunks.map(({ push }) => push)).toEqual(
      pushes
        .slice(0, -1)
        .map(({ id }) => id)
        .toReversed(),
    );
    expect(chunks.map(({ size }) => size)).toEqual(
      pushes
        .slice(0, -1)
        .map(({ packBytes }) => packBytes - 32)
        .toReversed(),
    );
    await expectSound();
    expect((await repository.planClone(oids.at(-1)!)).objectCount).toBe(84 + 80);
    const events = repository.events.filter((event) => event.event === "call" && event.name === "commit");
    expect(events).toHaveLength(20);
    for (const event of events) expect(event).toMatchObject({ pushes: [{ objects: 4, together: 20 }] });
  });

  test("are as many as one transaction takes, and the rest goes next", async () => {
    const count = MAX_SHARED_COMMITS + 6;
    const outcomes = await Promise.all(Array.from({ length: count }, (_, i) => save(`folder-0/new-${i}`)));
    expect(outcomes.map((outcome) => answerOf(outcome).kind)).toEqual([
      "fast-forward",
      ...Array.from({ length: count - 1 }, () => "rebased"),
    ]);
    expect(transactor.count).toBe(2);
    await expectSound();
  });

  test("do not suffer from one that is in conflict, changes nothing or came too late", async () => {
    const same = `folder-1/${nameOf(0)}`;
    const other = { operations: [{ op: "put", path: same, content: Buffer.from("other\n"), mode: null }] } as const;
    const [one, conflict, again, late, missing, last] = await Promise.all([
      save(same),
      save(same, other),
      save(same),
      save("late", { onConflict: "fail" }),
      save("gone", { operations: [{ op: "delete", path: "gone" }] }),
      save("last"),
    ]);
    const { commit } = answerOf(one);
    expect(conflict).toMatchObject({ kind: "failed", code: "conflict", data: { conflicts: [{ path: same }] } });
    expect(answerOf(again)).toMatchObject({ kind: "unchanged", commit });
    expect(late).toMatchObject({ kind: "failed", code: "stale", data: { expected: first.oid, actual: commit } });
    expect(missing).toMatchObject({ kind: "failed", code: "not-found" });
    expect(answerOf(last)).toMatchObject({ kind: "rebased", parents: [commit] });
    expect(transactor.count).toBe(1);
    expect(repository.tables.pushes.page(null, 100, null).pushes).toHaveLength(3);
    await expectSound();
  });

  test("are each made by themselves when one may not be", async () => {
    const outcomes = await Promise.all([
      save("one", {}, tokenFor("refs/heads/*")),
      save("two", {}, tokenFor("refs/tags/*")),
      save("three", {}, tokenFor("refs/heads/main")),
    ]);
    expect(outcomes[1]).toMatchObject({ kind: "failed", code: "forbidden" });
    const [one, , three] = outcomes.map((outcome, i) => (i === 1 ? null : answerOf(outcome)));
    expect(three!.parents).toEqual([one!.commit]);
    expect(repository.refs().get(MAIN)).toBe(three!.commit);
    const { pushes } = repository.tables.pushes.page(null, 100, null);
    expect(pushes.map(({ who }) => who)).toEqual(["token refs/heads/main (ci)", "token refs/heads/* (ci)", null]);
    await expectSound();
  });

  test("are told apart in the log by who made them", async () => {
    await Promise.all(["a", "b", "c"].map((path) => save(path, {}, tokenFor(`refs/heads/mai[${path}n]`))));
    const { pushes } = repository.tables.pushes.page(null, 100, null);
    expect(transactor.count).toBe(1);
    expect(pushes.map(({ who }) => who)).toEqual(
      ["c", "b", "a"].map((c) => `token refs/heads/mai[${c}n] (ci)`).concat([null!]),
    );
  });

  test("are all there once, or not at all, when the transaction fails", async () => {
    transactor.hasNextFail = true;
    const outcomes = await Promise.all(["a", "b", "c"].map((path) => save(path)));
    const commits = outcomes.map((outcome) => answerOf(outcome).commit);
    const { pushes } = repository.tables.pushes.page(null, 100, null);
    expect(pushes.map(({ refs }) => refs[0]![2])).toEqual([...commits.toReversed(), first.oid]);
    expect(repository.reopen().refs.get(MAIN)).toEqual(repository.tables.refs.get(MAIN));
    await expectSound();
  });

  test("go by themselves when their base is a name, which may be another commit by then", async () => {
    const outcomes = await Promise.all([save("a"), save("b", { base: "main" }), save("c")]);
    expect(outcomes.map((outcome) => answerOf(outcome).kind)).toEqual(["fast-forward", "fast-forward", "rebased"]);
    expect(transactor.count).toBe(2);
    await expectSound();
  });

  test("begin a branch together", async () => {
    const begun = { branch: "new", startPoint: first.oid, base: null };
    const outcomes = await Promise.all(["a", "b", "c"].map((path) => save(path, begun)));
    const [a, b, c] = outcomes.map(answerOf);
    expect([a, b, c].map((answer) => answer!.parents)).toEqual([[first.oid], [a!.commit], [b!.commit]]);
    const { pushes } = repository.tables.pushes.page(null, 100, null);
    expect(pushes.map(({ refs }) => refs[0]![1])).toEqual([b!.commit, a!.commit, null, null]);
    expect(transactor.count).toBe(1);
    await expectSound();
  });
});
