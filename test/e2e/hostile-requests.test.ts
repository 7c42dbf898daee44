// URLs, bodies and queries that no well-meaning client sends.
import { request as sendRequest } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { MAX_JSON_BYTES } from "../../src/base/format/limits.ts";
import { askApi } from "../harness/api.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { beginning, request } from "../harness/raw.ts";
import { readRefs, sendPush } from "../harness/raw-push.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";

/** 30 MB of text in about 100 KB, under 40 names. */
const large = makeObject("blob", "all work and no play makes a line\n".repeat(900_000));
const many = makeTree(...Array.from({ length: 40 }, (_, i) => ["100644", `file-${10 + i}`, large] as const));
const commit = makeCommit(many);

let server: Pick<Server, "url">;
let url: string;
beforeAll(async () => {
  // No worktree: it would be larger than a gigabyte.
  server = await shareServer("hostile", { WORKTREES: "none" });
  url = `${server.url}/hostile/repo.git`;
  const push = { commands: [{ name: "refs/heads/main", new: commit.oid }], pack: packOf(large, many, commit) };
  expect((await sendPush(url, push)).unpack).toBe("ok");
});

/** Requests a path unchanged: `fetch` and `request` would resolve its dots. */
async function statusOf(path: string, method = "GET"): Promise<number> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const outgoing = sendRequest({ hostname, port, path, method, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

const REFS = "info/refs?service=git-upload-pack";

test.each([
  [`/hostile/repo.git/${REFS}`, 200],
  [`/hostile/repo.git/info/refs?service=git-upload-archive`, 403],
  [`/hostile/repo.git/info/refs?service=`, 403],
  [`/hostile/repo.git/info/refs`, 403],
  [`/hostile/repo%00.git/${REFS}`, 404],
  [`/hostile/%00/${REFS}`, 404],
  [`/hostile/../${REFS}`, 404],
  [`/hostile/..%2frepo.git/${REFS}`, 404],
  [`/hostile/%2e%2e/${REFS}`, 404],
  [`/hostile/%2e%2e%2frepo.git/${REFS}`, 404],
  [`/%2e%2e/repo.git/${REFS}`, 404],
  [`/hostile/.git/${REFS}`, 404],
  [`/hostile/repo.git/../../etc/passwd`, 404],
  ["/hostile/repo.git/config", 404],
  ["/hostile/repo.git/HEAD", 404],
  ["/hostile/repo.git/objects/info/packs", 404],
  [`/hostile/repo.git//${REFS}`, 404],
  [`/hostile/${"x".repeat(300)}/${REFS}`, 404],
  ["/hostile/repo.git/git-upload-pack", 405],
  ["/hostile/repo.git/git-receive-pack", 405],
])("GET %s: %i", async (path, status) => {
  expect(await statusOf(path)).toBe(status);
});

test("JSON that is too deep, too large, or about prototypes", { tags: "sweep" }, async () => {
  const create = async (body: string | AsyncIterable<Buffer>, headers: Readonly<Record<string, string>> = {}) =>
    request(`${server.url}/api/repos`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? Buffer.from(body) : body,
    });
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
  ] as const) {
    expect((await create(`${open.repeat(10_000)}1${close.repeat(10_000)}`)).status).toBe(400);
  }
  // Refused for its length alone, or without one as soon as too much has come. Neither waits for
  // the rest.
  expect((await create(beginning(1_000_000), { "content-length": "100000000" })).status).toBe(413);
  // The body is read 256 KB at a time.
  expect((await create(beginning(MAX_JSON_BYTES + 262_144))).status).toBe(413);
  // A client that keeps sending is disconnected, and does not always get to read the answer.
  const sentOn = await create(`"${" ".repeat(100_000_000)}"`).then(
    ({ status }) => status,
    (error: NodeJS.ErrnoException) => error.code,
  );
  expect([413, "EPIPE", "ECONNRESET"]).toContain(sentOn);
  const polluting =
    '{"owner":"hostile","name":"proto","__proto__":{"description":"x","visibility":"private"},"constructor":{"prototype":{"x":1}}}';
  const { status, body } = await create(polluting);
  if (status === 201) expect(JSON.parse(body.toString())).toMatchObject({ name: "proto", description: null });
  else expect(status).toBe(422);
  expect((await create('{"owner":"hostile","name":"plain"}')).status).toBe(201);
  expect((await askApi(server, "/repos/hostile/plain")).body).toMatchObject({ name: "plain", description: null });
});

test("a search in more than a gigabyte ends in its budget, and says so", { tags: "sweep" }, async () => {
  const { status, body } = await askApi<{ truncated: boolean; nextCursor: string | null; searched: { bytes: number } }>(
    server,
    "/repos/hostile/repo/grep?ref=main&pattern=nothing+like+it",
  );
  expect([status, body.truncated]).toEqual([200, true]);
  expect(body.nextCursor).not.toBeNull();
  expect(body.searched.bytes).toBeLessThan(400_000_000);
});

test("after all this, the repository is as it was", async () => {
  expect(await readRefs(url)).toEqual(new Map([["refs/heads/main", commit.oid]]));
});
