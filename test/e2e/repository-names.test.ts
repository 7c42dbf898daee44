// Names that change their repository while a push uses them: the push goes to the repository that
// the name now means, or fails.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { type MadeObject, makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { encodePushHead, type PushAnswer, readRefs, sendBody, sendPush } from "../harness/raw-push.ts";
import { startServer, type Server } from "../harness/server.ts";
import { testSome } from "../harness/sweep.ts";

let server: Server;
let source: string;

beforeAll(async () => {
  server = await startServer();
  source = await makeRepository("source");
  await git(source, "commit", "-q", "--allow-empty", "-m", "first");
});
afterAll(() => server.close());

const urlOf = (path: string) => `${server.url}/${path}.git`;
const ask = (method: string, path: string, json?: unknown) =>
  askApi<{ repositories: { name: string }[]; id: string }>(
    server,
    path,
    json === undefined ? { method } : { method, json },
  );

/** A commit with one file of so many incompressible bytes. */
function makeBig(bytes: number): { commit: MadeObject; pack: Buffer } {
  const blob = makeObject("blob", randomBytes(bytes));
  const tree = makeTree(["100644", "file", blob]);
  const commit = makeCommit(tree, [], `Commit ${blob.oid}\n`);
  return { commit, pack: packOf(blob, tree, commit) };
}

/** Pushes a branch slowly: the second half of the pack waits for a promise. */
function pushSlowly(
  url: string,
  name: string,
  midway: () => Promise<void>,
): { tip: string; answer: Promise<PushAnswer> } {
  const { commit, pack } = makeBig(3_000_000);
  async function* body(): AsyncGenerator<Uint8Array> {
    yield encodePushHead({ commands: [{ name, new: commit.oid }] });
    yield pack.subarray(0, pack.length / 2);
    await midway();
    yield pack.subarray(pack.length / 2);
  }
  return { tip: commit.oid, answer: sendBody(url, body()) };
}

/** Makes the Worker cache a name whose repository is then deleted. */
async function makeStale(path: string): Promise<void> {
  const [owner, name] = path.split("/");
  const first = `${path}-first`;
  await git(source, "push", "-q", urlOf(first), "main");
  await ask("PATCH", `/repos/${first}`, { owner, name });
  await git(source, "ls-remote", urlOf(path));
  // By its earlier name: the isolate that gets this request does not know of the other.
  expect((await ask("DELETE", `/repos/${first}`)).status).toBe(204);
}

const SIZES: readonly (readonly [string, bytes: number, isChunked: boolean])[] = [
  ["small", 100, false],
  ["large", 3_000_000, false],
  ["large and chunked", 3_000_000, true],
];
const LANDS = "a %s push that is led to a deleted repository lands in the new one, whole";

testSome(1, SIZES, LANDS, async ([what, bytes, isChunked]) => {
  const path = `stale/${what.replaceAll(" ", "-")}`;
  await makeStale(path);
  const { commit, pack } = makeBig(bytes);
  const push = { commands: [{ name: "refs/heads/new", new: commit.oid }], pack };
  const body = Buffer.concat([encodePushHead(push), pack]);
  const pieces = Array.from({ length: Math.ceil(body.length / 10_000) }, (_, i) =>
    body.subarray(i * 10_000, (i + 1) * 10_000),
  );
  const answer = await sendBody(urlOf(path), isChunked ? pieces : body);
  expect(answer).toMatchObject({ status: 200, unpack: "ok" });
  expect(await readRefs(urlOf(path))).toEqual(new Map([["refs/heads/new", commit.oid]]));
});

test("whoever reads by a stale name reads the new repository, or that there is none", async () => {
  await makeStale("stale/read");
  expect((await tryGit(source, ["ls-remote", urlOf("stale/read")])).stderr).toContain("not found");
  await makeStale("stale/again");
  expect((await ask("GET", "/repos/stale/again/maintenance")).status).toBe(404);
  await makeStale("stale/new");
  expect((await ask("POST", "/repos", { owner: "stale", name: "new" })).status).toBe(201);
  expect(await git(source, "ls-remote", urlOf("stale/new"))).toBe("");
});

test("first pushes at once make one repository with all that they pushed", { tags: "sweep" }, async () => {
  const url = urlOf("race/first");
  const made = Array.from({ length: 8 }, () => makeBig(400_000));
  const answers = await Promise.all(
    made.map(({ commit, pack }, i) =>
      sendPush(url, { commands: [{ name: `refs/heads/b${i}`, new: commit.oid }], pack }),
    ),
  );
  for (const { unpack, refs } of answers) expect([unpack, ...refs.values()]).toEqual(["ok", null]);
  expect(await readRefs(url)).toEqual(new Map(made.map(({ commit }, i) => [`refs/heads/b${i}`, commit.oid])));
  expect((await ask("GET", "/repos/race")).body.repositories).toMatchObject([{ name: "first" }]);
});

test("a creation beside first pushes: one repository", async () => {
  const { commit, pack } = makeBig(100);
  const pushes = ["a", "b"].map((name) =>
    sendPush(urlOf("beside/made"), { commands: [{ name: `refs/heads/${name}`, new: commit.oid }], pack }),
  );
  const creations = ["made", "made"].map((name) => ask("POST", "/repos", { owner: "beside", name }));
  for (const { unpack } of await Promise.all(pushes)) expect(unpack).toBe("ok");
  const statuses = (await Promise.all(creations)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(1);
  expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
  expect((await readRefs(urlOf("beside/made"))).size).toBe(2);
  expect((await ask("GET", "/repos/beside")).body.repositories.length).toBe(1);
});

test("a push during which its repository is deleted fails, whatever takes the name", { tags: "sweep" }, async () => {
  const url = urlOf("gone/midway");
  await git(source, "push", "-q", url, "main");
  const slow = pushSlowly(url, "refs/heads/late", async () => {
    await sleep(200);
    expect((await ask("DELETE", "/repos/gone/midway")).status).toBe(204);
    expect((await ask("POST", "/repos", { owner: "gone", name: "midway" })).status).toBe(201);
  });
  const { status, unpack, refs } = await slow.answer;
  expect(status === 404 || (unpack !== "ok" && refs.get("refs/heads/late") !== null)).toBe(true);
  expect((await readRefs(url)).size).toBe(0);
});

test("a push during which its repository is renamed arrives", async () => {
  const url = urlOf("moved/midway");
  await git(source, "push", "-q", url, "main");
  const slow = pushSlowly(url, "refs/heads/late", async () => {
    await sleep(200);
    expect((await ask("PATCH", "/repos/moved/midway", { name: "elsewhere" })).status).toBe(200);
  });
  expect((await slow.answer).refs.get("refs/heads/late")).toBe(null);
  expect((await readRefs(urlOf("moved/elsewhere"))).get("refs/heads/late")).toBe(slow.tip);
});

test(
  "a first push during which its repository is created, deleted and created anew lands nowhere",
  { tags: "sweep" },
  async () => {
    const url = urlOf("first/midway");
    const slow = pushSlowly(url, "refs/heads/late", async () => {
      await sleep(200);
      expect((await ask("POST", "/repos", { owner: "first", name: "midway" })).status).toBe(201);
      expect((await ask("DELETE", "/repos/first/midway")).status).toBe(204);
      await git(source, "push", "-q", url, "main");
    });
    const { status, unpack } = await slow.answer;
    expect(status === 404 || unpack !== "ok").toBe(true);
    expect([...(await readRefs(url)).keys()]).toEqual(["refs/heads/main"]);
  },
);

test(
  "of deleted repositories nothing is left in R2, also when the server ends in between",
  { tags: "sweep" },
  async () => {
    const killed = await startServer();
    try {
      const path = "short/lived";
      const { commit, pack } = makeBig(5_000_000);
      const push = { commands: [{ name: "refs/heads/main", new: commit.oid }], pack };
      await sendPush(`${killed.url}/${path}.git`, push);
      expect((await askApi(killed, `/repos/${path}`, { method: "DELETE" })).status).toBe(204);
      await killed.kill();
      await killed.restart();
      expect((await askApi(killed, `/repos/${path}`)).status).toBe(404);
      // It may have been erased before the server ended, whose last events then are lost.
      await expect.poll(async () => (await killed.readObjects("")).size).toBe(0);
    } finally {
      await killed.close();
    }
  },
);
