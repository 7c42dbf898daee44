/** Commits through the API whose paths are long, many or deep: they are made, or refused in words,
 * while other requests are answered. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, askApi } from "../../harness/api.ts";
import { git } from "../../harness/git.ts";
import { makeCommit, makeObject, makeTree, makeWideTree, packOf } from "../../harness/pack-builder.ts";
import { sendPush } from "../../harness/raw-push.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

const ADA = { name: "Ada Example", email: "ada@example.com", date: "2023-11-14T23:13:20+01:00" };

/** CPU for which others may have to wait (seconds). */
const BOUND_SECONDS = 2;

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.close());

interface Made {
  readonly commit: string;
  readonly files: readonly { readonly path: string; readonly oid: string | null }[];
  readonly error: { readonly code: string; readonly message: string };
}

function commit(name: string, operations: readonly unknown[]): Promise<Answer<Made>> {
  const json = { branch: "main", message: "Change", author: ADA, operations };
  return askApi<Made>(server, `/repos/me/${name}/commits`, { method: "POST", json });
}

/** Does some work while the server is asked whether it lives.
 * @returns the most CPU that went by before an answer (seconds) */
async function othersWait(work: Promise<unknown>): Promise<number> {
  let ended = false;
  let longest = 0;
  const others = (async () => {
    while (!ended) {
      const before = server.readUsage().cpuSeconds;
      await (await fetch(`${server.url}/healthz`)).text();
      longest = Math.max(longest, server.readUsage().cpuSeconds - before);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  await work.finally(() => {
    ended = true;
  });
  await others;
  return longest;
}

test(
  "2,000 files below 1,000 directories are one commit, and others are served meanwhile",
  { tags: "sweep" },
  async () => {
    expect((await askApi(server, "/repos", { method: "POST", json: { owner: "me", name: "deep" } })).status).toBe(201);
    const deep = Array<string>(1_000).fill("a").join("/");
    const operations = Array.from({ length: 2_000 }, (_, i) => ({
      op: "put",
      path: `${deep}/f${i}`,
      content: `${i}\n`,
    }));
    const made = commit("deep", operations);
    expect(await othersWait(made)).toBeLessThan(BOUND_SECONDS);
    const { status, body } = await made;
    expect([status, body.files.length, body.files.every(({ oid }) => oid !== null)]).toEqual([201, 2_000, true]);
    const dir = `${makeTempDir("clone")}/deep.git`;
    await git(".", "clone", "-q", "--bare", `${server.url}/me/deep.git`, dir);
    expect(await git(dir, "rev-parse", `main:${deep}/f1999`)).toBe(body.files[1_999]!.oid);
    // The same paths again, changed, moved and removed.
    const again = commit("deep", [
      ...operations.slice(0, 1_000).map(({ path }) => ({ op: "delete", path })),
      ...operations.slice(1_000).map(({ path }, i) => ({ op: "move", from: path, to: `${deep}/g${i}` })),
    ]);
    expect(await othersWait(again)).toBeLessThan(BOUND_SECONDS);
    expect((await again).status).toBe(201);
    await git(dir, "fetch", "-q", "origin", "main:next");
    expect((await git(dir, "ls-tree", `next:${deep}`)).split("\n")).toHaveLength(1_000);
  },
);

test("a name that fsck refuses is told, also among thousands", async () => {
  await askApi(server, "/repos", { method: "POST", json: { owner: "me", name: "names" } });
  const operations = Array.from({ length: 3_000 }, (_, i) => ({ op: "put", path: `d${i}/f`, content: "" }));
  operations[2_500] = { op: "put", path: "a/.git/config", content: "" };
  const { status, body } = await commit("names", operations);
  expect([status, body.error]).toMatchObject([422, { code: "invalid", field: "operations.2500.path" }]);
});

test("more directories than one commit may have are refused in words", async () => {
  await askApi(server, "/repos", { method: "POST", json: { owner: "me", name: "many" } });
  const below = Array<string>(1_000).fill("a").join("/");
  const operations = Array.from({ length: 25 }, (_, i) => ({ op: "put", path: `d${i}/${below}/f`, content: "" }));
  const refused = commit("many", operations);
  expect(await othersWait(refused)).toBeLessThan(BOUND_SECONDS);
  const { status, body } = await refused;
  expect([status, body.error.message]).toEqual([
    413,
    expect.stringContaining("the directories of one commit exceeds the limit of 20000"),
  ]);
});

test("directories that moves put ever deeper into each other are refused in words", async () => {
  await askApi(server, "/repos", { method: "POST", json: { owner: "me", name: "nested" } });
  const below = Array<string>(1_000).fill("a").join("/");
  const operations = [
    { op: "put", path: "m0/f", content: "" },
    ...Array.from({ length: 4 }, (_, i) => [
      { op: "put", path: `m${i + 1}/${below}/f`, content: "" },
      { op: "move", from: `m${i}`, to: `m${i + 1}/${below}/m` },
    ]).flat(),
  ];
  const { status, body } = await commit("nested", operations);
  expect([status, body.error.message]).toEqual([
    413,
    expect.stringContaining("the levels of directories exceeds the limit of 2048"),
  ]);
});

test("a directory of 300,000 files is changed by many operations, emptied ones among them", async () => {
  const blob = makeObject("blob", "");
  const wide = makeWideTree(
    Array.from({ length: 300_000 }, (_, i) => ["100644", String(i).padStart(6, "0"), blob] as const),
  );
  const root = makeTree(["40000", "d", wide]);
  const tip = makeCommit(root);
  const pushed = await sendPush(`${server.url}/me/wide.git`, {
    commands: [{ name: "refs/heads/main", new: tip.oid }],
    pack: packOf(blob, wide, root, tip),
  });
  expect(pushed.unpack).toBe("ok");
  // Each of the moves must know whether the directory is empty.
  const made = commit("wide", [
    { op: "delete", path: "d/000007" },
    ...Array.from({ length: 1_000 }, (_, i) => ({ op: "put", path: `d/f${i}`, content: "" })),
    ...Array.from({ length: 1_000 }, (_, i) => ({ op: "delete", path: `d/f${i}` })),
    ...Array.from({ length: 1_000 }, (_, i) => ({
      op: "move",
      from: i % 2 === 0 ? "d" : "e",
      to: i % 2 === 0 ? "e" : "d",
    })),
  ]);
  expect(await othersWait(made)).toBeLessThan(BOUND_SECONDS);
  const { status, body } = await made;
  expect([status, body.files.filter(({ oid }) => oid !== null).map(({ path }) => path)]).toEqual([201, ["d"]]);
});
