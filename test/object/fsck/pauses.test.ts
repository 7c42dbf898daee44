// A check of what is cheap to push, but names the same things again and again, lets others run, and
// leaves the rest to the next call.
import { expect, test } from "vitest";
import type { FsckStageName } from "../../../src/contract/upkeep.ts";
import { makeCommit, type MadeObject, makeObject, makeTree, makeWideTree, packOf } from "../../harness/pack-builder.ts";
import { PushedRepository } from "../pushing.ts";
import { fromHex } from "../stored-repository.ts";
import { check } from "./checked-repository.ts";
import { Damage } from "./damage.ts";

/** Checks a repository from a stage on, in calls of some steps.
 * @returns also how often others ran */
async function checkFrom(repository: PushedRepository, from: FsckStageName, budgetSteps: number) {
  let turns = 0;
  let ended = false;
  const others = (async () => {
    for (; !ended; turns++) await new Promise((resolve) => setImmediate(resolve));
  })();
  const found = await check(repository, { from, budgetSteps, rules: "strict" });
  ended = true;
  await others;
  return { ...found, turns };
}

/** Pushes commits without parents. */
async function pushOrphans(
  repository: PushedRepository,
  count: number,
  rootOf: (index: number) => MadeObject,
  objects: readonly MadeObject[],
): Promise<void> {
  const roots = Array.from({ length: count }, (_, i) => rootOf(i));
  const commits = roots.map((root, i) => makeCommit(root, [], `${i}\n`));
  const commands = commits.map(({ oid }, i) => [`refs/heads/orphan-${i}`, null, oid] as const);
  const pack = packOf(...objects, ...new Set(roots), ...commits);
  expect(await repository.push(commands, pack)).toMatchObject({ unpack: "ok" });
}

const files = (count: number): MadeObject[] =>
  Array.from({ length: count }, (_, i) => makeObject("blob", `file ${i}\n`));
const rootOf = (blobs: readonly MadeObject[], ...more: MadeObject[]): MadeObject =>
  makeTree(...[...blobs, ...more].map((blob, i) => ["100644", String(i).padStart(5, "0"), blob] as const));

test("commits without a common history that share files are checked in steps of introducers", async () => {
  const repository = new PushedRepository();
  const shared = files(300);
  const own = (i: number): MadeObject => makeObject("blob", `own ${i}\n`);
  await pushOrphans(repository, 200, (i) => rootOf(shared, own(i)), [
    ...shared,
    ...Array.from({ length: 200 }, (_, i) => own(i)),
  ]);
  for (const from of ["index", "reachability"] as const) {
    const { problems, checked, calls, turns } = await checkFrom(repository, from, 2_000);
    expect([problems, checked["nodes"], checked["skippedNodes"]]).toEqual([[], 200, 0]);
    expect(calls).toBeGreaterThan(1);
    // 60,000 pairs of an object and an introducer.
    expect(turns).toBeGreaterThan(25);
  }
});

test("a call ends within a page of nodes that many objects are looked at for", async () => {
  const repository = new PushedRepository();
  const blobs = files(2_000);
  const root = rootOf(blobs);
  await pushOrphans(repository, 120, () => root, blobs);
  const { problems, checked, calls, turns } = await checkFrom(repository, "reachability", 10_000);
  expect([problems, checked["nodes"]]).toEqual([[], 120]);
  expect(calls).toBeGreaterThan(1);
  expect(turns).toBeGreaterThan(40);
});

test("directories of many entries are checked in steps", async () => {
  const repository = new PushedRepository();
  const blob = makeObject("blob", "content\n");
  const wide = (salt: string): MadeObject =>
    makeWideTree(Array.from({ length: 60_000 }, (_, i) => ["100644", salt + String(i).padStart(6, "0"), blob]));
  const trees = [wide("a"), wide("b")];
  await pushOrphans(repository, 2, (i) => trees[i]!, [blob]);
  for (const from of ["chunks", "reachability"] as const) {
    const { problems, checked, turns } = await checkFrom(repository, from, 50_000);
    expect([problems, checked["nodes"]]).toEqual([[], 2]);
    // 120,000 entries, of which each is looked up.
    expect(turns).toBeGreaterThan(22);
  }
});

test("an introducer too few or too many is told, however many there are", async () => {
  const repository = new PushedRepository();
  const [blob, other] = files(2) as [MadeObject, MadeObject];
  const base = makeCommit(rootOf([other]), [], "Base\n");
  const root = rootOf([blob, other]);
  const children = Array.from({ length: 70 }, (_, i) => makeCommit(root, [base.oid], `${i}\n`));
  const grandchild = makeCommit(root, [children[7]!.oid], "Below\n");
  const tips = children.with(7, grandchild);
  const commands = tips.map(({ oid }, i) => [`refs/heads/tip-${i}`, null, oid] as const);
  const trees = [rootOf([other]), root];
  await repository.push(commands, packOf(blob, other, ...trees, base, ...children, grandchild));
  const { objects } = repository.tables;
  const numberOf = ({ oid }: MadeObject): number => objects.lookupMany(fromHex(oid)).number[0]!;
  const object = numberOf(blob);
  const rows = repository.sql.exec<{ node: number }>("SELECT node FROM reintroductions WHERE object = ?", object);
  const removed = rows.toArray().at(-1)!.node;
  expect((await check(repository)).problems).toEqual([]);

  const damage = new Damage(repository);
  const told = async (statement: string): Promise<string[]> =>
    (await damage.inRows(statement)).map(({ kind, oid, detail }) => `${kind} ${oid === blob.oid} ${detail}`);
  const prefix = `reachability true object number ${object}`;
  const where = `WHERE object = ${object} AND node = ${removed}`;
  expect(await told(`DELETE FROM reintroductions ${where}`)).toEqual([
    `${prefix}: node ${removed} introduced it, but its row does not say so`,
  ]);
  for (const [made, heirs] of [
    [grandchild, []],
    [base, children],
  ] as const) {
    const node = numberOf(made);
    const problems = await told(`INSERT INTO reintroductions VALUES (${object}, ${node})`);
    expect(problems.toSorted()).toEqual(
      [
        `reachability true its row says that node ${node} introduced it, but that node does not list it`,
        ...heirs.map((heir) => `${prefix}: node ${numberOf(heir)} lists it, but did not introduce it`),
      ].toSorted(),
    );
  }
});
