// Quotas of repositories and owners, and the pushes that exceed them.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, askApi } from "../harness/api.ts";
import { git, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { Random } from "../harness/random.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { readRefs, sendPush } from "../harness/raw-push.ts";
import { type Server, startServer } from "../harness/server.ts";

const ADMIN = "correct-horse-battery";
const ADA = { name: "Ada Example", email: "ada@example.com" };

/** The deployment's default for each repository. */
const DEFAULT_BYTES = 2_500_000;

interface Standing {
  readonly maxBytes: number | null;
  readonly maxObjects: number | null;
  readonly effective: { maxBytes: number | null; maxObjects: number | null };
  readonly sizeBytes: number;
  readonly objectCount: number;
}

let server: Server;
let history: string;

const urlOf = (name: string, token = ADMIN): string => `${server.url.replace("://", `://git:${token}@`)}/${name}`;

function ask<Body = Standing>(
  path: string,
  token: string | null = ADMIN,
  init: { method?: string; json?: unknown } = {},
): Promise<Answer<Body>> {
  return askApi<Body>(server, path, { ...init, headers: token === null ? {} : { Authorization: `Bearer ${token}` } });
}

const set = (path: string, maxBytes: number | null, maxObjects: number | null = null, token = ADMIN) =>
  ask(path, token, { method: "PUT", json: { maxBytes, maxObjects } });

async function makeToken(more: Record<string, unknown>): Promise<string> {
  const json = { owner: "me", name: "a test", right: "write", ...more };
  return (await ask<{ token: string }>("/tokens", ADMIN, { method: "POST", json })).body.token;
}

/** Waits until the registry knows what a repository holds. */
async function heard(path: string, isThere: (standing: Standing) => boolean): Promise<Standing> {
  for (let tries = 0; tries < 500; tries++) {
    const { body } = await ask(path);
    if (isThere(body)) return body;
    await sleep(50);
  }
  throw new Error(`${path} does not hear of it`);
}

/** A commit of one file that does not compress. */
function makeLarge(sizeBytes: number, seed: number) {
  const blob = makeObject("blob", new Random(seed).bytes(sizeBytes));
  const tree = makeTree(["100644", "large", blob]);
  const commit = makeCommit(tree, [], `${seed}\n`);
  return { commit, pack: packOf(blob, tree, commit) };
}

const pushLarge = (name: string, sizeBytes: number, seed: number, branch = `b${seed}`) => {
  const { commit, pack } = makeLarge(sizeBytes, seed);
  return sendPush(urlOf(name), { commands: [{ name: `refs/heads/${branch}`, new: commit.oid }], pack });
};

beforeAll(async () => {
  const limits = { maxRepositoryBytes: DEFAULT_BYTES };
  server = await startServer({
    vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN, WORKTREES: "none", LIMITS: JSON.stringify(limits) },
  });
  history = await makeHistory({ commits: 4, files: 3 });
});
afterAll(() => server.close());

test("a repository's quota refuses what is too much, leaves nothing of it, and takes the next small push", async () => {
  await git(history, "push", "-q", urlOf("me/small"), "main~2:refs/heads/main");
  const path = "/repos/me/small/quota";
  const { sizeBytes, objectCount } = await heard(path, (standing) => standing.objectCount > 0);
  expect((await set(path, sizeBytes + 100_000)).body).toEqual({
    maxBytes: sizeBytes + 100_000,
    maxObjects: null,
    effective: { maxBytes: sizeBytes + 100_000, maxObjects: null },
    sizeBytes,
    objectCount,
  });
  for (const size of [150_000, 400_000]) {
    const { unpack, refs } = await pushLarge("me/small", size, size);
    expect(unpack).toMatch(
      /^the repository with this push \(bytes\) exceeds the limit of \d+ \(it is \d+\): that is the quota; \d+ are there, and the push adds at least \d+$/,
    );
    expect(refs.get(`refs/heads/b${size}`)).toBe("unpacker error");
  }
  expect([...(await readRefs(urlOf("me/small"))).keys()]).toEqual(["refs/heads/main"]);
  await git(history, "push", "-q", urlOf("me/small"), "main");
  expect((await pushLarge("me/small", 50_000, 1)).unpack).toBe("ok");
});

test("what a full repository is sent is refused before it is read, and git says why", async () => {
  await git(history, "push", "-q", urlOf("me/full"), "main~2:refs/heads/main", "main~2:refs/heads/more");
  await set("/repos/me/full/quota", 1);
  const { code, stderr } = await tryGit(history, ["push", urlOf("me/full"), "main"]);
  expect(code).not.toBe(0);
  expect(stderr).toContain("remote unpack failed: the repository with this push (bytes) exceeds the limit of 1");
  // A push without new objects passes.
  await git(history, "push", "-q", "--force", urlOf("me/full"), "main~3:refs/heads/more");
  await git(history, "push", "-q", urlOf("me/full"), ":refs/heads/more");
  // A ref itself counts.
  expect((await tryGit(history, ["push", urlOf("me/full"), "main~3:refs/heads/old"])).stderr).toContain(
    "that is the quota",
  );
  expect([...(await readRefs(urlOf("me/full"))).keys()]).toEqual(["refs/heads/main"]);
  const commit = { branch: "main", message: "m", author: ADA, operations: [{ op: "put", path: "a", content: "a" }] };
  const posted = await ask<{ error: unknown }>("/repos/me/full/commits", ADMIN, { method: "POST", json: commit });
  expect(posted.status).toBe(413);
  const message = expect.stringContaining("that is the quota") as unknown;
  expect(posted.body.error).toMatchObject({ code: "too-large", limitKind: "quota", message });
  expect((await ask("/repos/me/full/maintenance", ADMIN, { method: "POST" })).status).toBe(200);
  await set("/repos/me/full/quota", null);
  await git(history, "push", "-q", urlOf("me/full"), "main");
});

test("a fork's quota counts what is its own, and nothing of its parent", { tags: "sweep" }, async () => {
  expect((await pushLarge("me/parent", 1_000_000, 1, "main")).unpack).toBe("ok");
  const made = await ask("/repos/me/parent/forks", ADMIN, { method: "POST", json: { name: "forked" } });
  expect(made.status).toBe(201);
  const path = "/repos/me/forked/quota";
  const { sizeBytes, objectCount } = await heard(path, (standing) => standing.sizeBytes > 0);
  // Its refs and its log.
  expect(sizeBytes).toBeLessThan(1_000);
  expect(objectCount).toBe(0);
  await set(path, sizeBytes + 100_000, 3);
  expect((await pushLarge("me/forked", 150_000, 2)).unpack).toContain(
    `the repository with this push (bytes) exceeds the limit of ${sizeBytes + 100_000}`,
  );
  expect([...(await readRefs(urlOf("me/forked"))).keys()]).toEqual(["refs/heads/main"]);
  expect((await pushLarge("me/forked", 50_000, 3)).unpack).toBe("ok");
  // What the parent has is not counted, even when it is sent once more.
  await set(path, null, 6);
  expect((await pushLarge("me/forked", 1_000_000, 1, "again")).unpack).toBe("ok");
  const after = await heard(path, (standing) => standing.objectCount > 0);
  expect(after.objectCount).toBe(3);
  expect(after.sizeBytes).toBeLessThan(100_000);
  expect((await pushLarge("me/forked", 10, 4)).unpack).toBe("ok");
  expect((await pushLarge("me/forked", 10, 5)).unpack).toContain("(objects) exceeds the limit of 6");
  // Deleting the parent gives the fork nothing to answer for.
  expect((await ask("/repos/me/parent", ADMIN, { method: "DELETE" })).status).toBe(204);
  await set(path, sizeBytes + 100_000, null);
  expect((await pushLarge("me/forked", 10_000, 6)).unpack).toBe("ok");
});

test("objects are counted as they are declared, and exactly when they are stored", async () => {
  await git(history, "push", "-q", urlOf("me/counted"), "main~3:refs/heads/main");
  const path = "/repos/me/counted/quota";
  const { objectCount } = await heard(path, (standing) => standing.objectCount > 0);
  await set(path, null, objectCount + 3);
  const many = Array.from({ length: 10 }, (_, i) => makeObject("blob", `${i}\n`));
  const tree = makeTree(...many.map((blob, i) => ["100644", `f${i}`, blob] as const));
  const commit = makeCommit(tree);
  const commands = [{ name: "refs/heads/many", new: commit.oid }];
  const { unpack } = await sendPush(urlOf("me/counted"), { commands, pack: packOf(...many, tree, commit) });
  expect(unpack).toContain(`the repository with this push (objects) exceeds the limit of ${objectCount + 3}`);
  expect((await pushLarge("me/counted", 10, 1)).unpack).toBe("ok");
  // Objects that the repository has already do not count again.
  await set(path, null, objectCount + 6);
  expect((await pushLarge("me/counted", 10, 1, "again")).unpack).toBe("ok");
  expect((await pushLarge("me/counted", 10, 2)).unpack).toBe("ok");
  expect((await pushLarge("me/counted", 10, 3)).unpack).toContain("that is the quota");
});

test(
  "the deployment's default holds where nothing else is set, and a restore is a push",
  { tags: "sweep" },
  async () => {
    const chunks = async (): Promise<string[]> => [...(await server.readObjects("/chunks/")).keys()].toSorted();
    const before = await chunks();
    expect((await pushLarge("me/default", DEFAULT_BYTES, 1)).unpack).toContain(`the limit of ${DEFAULT_BYTES}`);
    // The push had begun to write.
    await expect.poll(chunks).toEqual(before);
    await git(history, "push", "-q", urlOf("me/default"), "main");
    const bundle = (await tryGit(history, ["bundle", "create", "-q", "-", "main"])).stdoutBytes;
    await set("/owners/he/quota", 1);
    const headers = { Authorization: `Bearer ${ADMIN}`, "Content-Type": "application/x-git-bundle" };
    const restored = { method: "PUT", body: new Uint8Array(bundle), headers };
    expect((await askApi(server, "/repos/he/restored/backup.bundle", restored)).status).toBe(413);
    const path = "/repos/me/default/quota";
    expect((await ask(path)).body.effective).toEqual({ maxBytes: DEFAULT_BYTES, maxObjects: null });
    await set(path, 2 * DEFAULT_BYTES);
    expect((await pushLarge("me/default", DEFAULT_BYTES, 1)).unpack).toBe("ok");
  },
);

test("an owner's quota is for all that the owner has, and for pushes that create a repository", async () => {
  expect((await pushLarge("you/one", 200_000, 1)).unpack).toBe("ok");
  const path = "/owners/you/quota";
  await heard(path, ({ sizeBytes }) => sizeBytes > 200_000);
  expect((await set(path, 300_000)).body.effective).toEqual({ maxBytes: 300_000, maxObjects: null });
  const refused = await pushLarge("YOU/two", 150_000, 2);
  expect(refused.unpack).toContain("what the owner has with this push (bytes) exceeds the limit of 300000");
  expect((await ask("/repos/you/two")).status).toBe(404);
  expect((await pushLarge("you/one", 150_000, 3)).unpack).toContain("what the owner has");
  expect((await pushLarge("you/two", 50_000, 4)).unpack).toBe("ok");
  await set(path, null);
});

test("what a change of a quota leaves out stays as it is, and null unsets it", async () => {
  await git(history, "push", "-q", urlOf("me/partly"), "main~3:refs/heads/main");
  const change = (json: unknown) => ask("/repos/me/partly/quota", ADMIN, { method: "PUT", json });
  expect((await change({ maxBytes: 5_000_000 })).body).toMatchObject({ maxBytes: 5_000_000, maxObjects: null });
  expect((await change({ maxObjects: 900 })).body).toMatchObject({ maxBytes: 5_000_000, maxObjects: 900 });
  expect((await change({ maxBytes: null })).body).toMatchObject({ maxBytes: null, maxObjects: 900 });
  expect((await change({ maxObjects: null })).body).toMatchObject({ maxBytes: null, maxObjects: null });
  expect((await change({ maxByte: 1 })).status).toBe(422);
});

test("who may see quotas, and who may set them", async () => {
  await git(history, "push", "-q", urlOf("me/seen"), "main");
  const [read, admin, strange] = [
    await makeToken({ right: "read" }),
    await makeToken({ right: "admin" }),
    await makeToken({ owner: "she", right: "admin" }),
  ];
  const statuses = async (path: string) =>
    Promise.all([read, admin, strange, ADMIN, null].map(async (token) => (await ask(path, token)).status));
  expect(await statuses("/repos/me/seen/quota")).toEqual([200, 200, 404, 200, 401]);
  expect(await statuses("/owners/me/quota")).toEqual([403, 200, 403, 200, 401]);
  for (const path of ["/repos/me/seen/quota", "/owners/me/quota"]) {
    expect((await set(path, 5, null, admin)).status).toBe(403);
    expect((await set(path, -1)).status).toBe(422);
  }
  expect((await set("/owners/api/quota", 5)).status).toBe(422);
});
