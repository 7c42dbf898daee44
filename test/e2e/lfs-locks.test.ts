/** Locks of Git LFS, and who may do what: the requests of its client with tokens of several
 * rights. */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { LfsClient, objectOf } from "../harness/lfs.ts";
import type { Server } from "../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../harness/shared-server.ts";

const REPOSITORY = "locks/files";

let server: Pick<Server, "url">;
/** The callers. */
let admin: LfsClient;
let writer: LfsClient;
let other: LfsClient;
let reader: LfsClient;
let stranger: LfsClient;
let nobody: LfsClient;

beforeAll(async () => {
  server = await shareServer("locks", WITH_TOKENS);
  await askAs(ADMIN_TOKEN, "POST", "/repos", { owner: "locks", name: "files" });
  const clientOf = async (right: string, more: Record<string, unknown> = {}): Promise<LfsClient> => {
    const { token } = (await askAs(ADMIN_TOKEN, "POST", "/tokens", { owner: "locks", right, ...more })) as {
      token: string;
    };
    return new LfsClient(`${server.url}/${REPOSITORY}.git`, token);
  };
  admin = await clientOf("admin", { name: "chief" });
  writer = await clientOf("write", { name: "writer" });
  other = await clientOf("write", { name: "other" });
  reader = await clientOf("read", { name: "reader" });
  stranger = await clientOf("write", { name: "stranger", owner: "elsewhere" });
  nobody = new LfsClient(`${server.url}/${REPOSITORY}.git`);
});
async function askAs(token: string, method: string, path: string, json: unknown): Promise<unknown> {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const response = await fetch(`${server.url}/api${path}`, { method, headers, body: JSON.stringify(json) });
  const body: unknown = await response.json();
  expect(response.ok, JSON.stringify(body)).toBe(true);
  return body;
}

const lock = (client: LfsClient, path: string, more: Record<string, unknown> = {}) =>
  client.ask("POST", "locks", "lock", { path, ref: { name: "refs/heads/main" }, ...more });
const unlock = (client: LfsClient, id: string, more: Record<string, unknown> = {}) =>
  client.ask("POST", `locks/${id}/unlock`, "lock", more);

test("a lock is its owner's: others see it, and only an admin breaks it", async () => {
  const made = await lock(writer, "a/b.bin");
  expect([made.status, made.body.lock]).toEqual([
    201,
    expect.objectContaining({ path: "a/b.bin", owner: { name: "writer" } }),
  ]);
  const { id } = made.body.lock;
  const held = await lock(other, "a/b.bin");
  expect([held.status, held.body.lock.id, held.body.message]).toEqual([409, id, "a/b.bin is locked by writer already"]);
  expect((await lock(writer, "a/b.bin")).status).toBe(409);

  const { body: seen } = await other.ask("POST", "locks/verify", "verify", {});
  expect([seen.ours, seen.theirs.map((one) => one.id)]).toEqual([[], [id]]);
  expect((await writer.ask("POST", "locks/verify", "verify", {})).body.ours.map((one) => one.id)).toEqual([id]);
  expect((await reader.ask("GET", "locks?path=a/b.bin&refspec=refs/heads/other", "list")).body.locks).toHaveLength(1);

  // Who has it, those are told who may write.
  const listOf = async (client: LfsClient) => (await client.ask("GET", "locks?path=a/b.bin", "list")).body.locks;
  expect((await listOf(other)).map(({ owner }) => owner)).toEqual([{ name: "writer" }]);
  expect((await listOf(reader)).map(({ path, owner }) => [path, owner])).toEqual([["a/b.bin", undefined]]);

  const refused = await unlock(other, id);
  expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining("writer has locked it")]);
  const forced = await unlock(other, id, { force: true });
  expect([forced.status, forced.body.message]).toEqual([403, expect.stringContaining("'admin'")]);
  expect((await unlock(admin, id, { force: true })).body.lock.id).toBe(id);
  expect((await unlock(writer, id)).status).toBe(404);
  const again = await lock(other, "a/b.bin");
  expect([again.status, again.body.lock.id === id]).toEqual([201, false]);
  expect((await unlock(other, again.body.lock.id)).status).toBe(200);
});

test("of 200 writers at once, one gets the lock", { tags: "sweep" }, async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => lock(i % 2 === 0 ? writer : other, "raced.bin")),
  );
  const won = answers.filter(({ status }) => status === 201);
  expect(won).toHaveLength(1);
  expect(new Set(answers.map(({ body }) => body.lock.id))).toEqual(new Set([won[0]!.body.lock.id]));
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(199);
  await unlock(admin, won[0]!.body.lock.id, { force: true });
});

test("lists come in pages, by path, and can be cut down to one lock", async () => {
  const paths = Array.from({ length: 25 }, (_, i) => `page/ä ${String(i).padStart(2, "0")}.bin`);
  for (const path of paths.toReversed()) expect((await lock(writer, path)).status).toBe(201);
  const seen: string[] = [];
  for (let cursor = "", pages = 0; ; pages++) {
    expect(pages).toBeLessThan(4);
    const { body } = await reader.ask("GET", `locks?limit=10&cursor=${encodeURIComponent(cursor)}`, "list");
    seen.push(...body.locks.map(({ path }) => path));
    if (body.next_cursor === undefined) break;
    cursor = body.next_cursor;
  }
  expect(seen).toEqual(paths);
  const first = await other.ask("POST", "locks/verify", "verify", { limit: 20 });
  const second = await other.ask("POST", "locks/verify", "verify", { limit: 20, cursor: first.body.next_cursor });
  expect([...first.body.theirs, ...second.body.theirs].map(({ path }) => path)).toEqual(paths);
  const { id } = first.body.theirs[3]!;
  expect((await reader.ask("GET", `locks?id=${id}`, "list")).body.locks.map(({ path }) => path)).toEqual([paths[3]]);
  expect((await reader.ask("GET", `locks?id=${id}&path=x`, "list")).body.locks).toEqual([]);
  for (const query of ["limit=x", "path=%ff", "id=lat%E9", "path=a&path=b"])
    expect([query, (await reader.ask("GET", `locks?${query}`, "list")).status]).toEqual([query, 422]);
});

test("paths that name no file of a work tree are refused, and ids that are none are not found", async () => {
  const bad = ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "a\0b", "\ud800", "x".repeat(4_097)];
  for (const path of bad)
    expect([path.slice(0, 20), (await lock(writer, path)).status]).toEqual([path.slice(0, 20), 422]);
  expect((await lock(writer, "x", { ref: { name: "../main" } })).status).toBe(422);
  for (const id of ["1", "%2e%2e", "x".repeat(300)]) expect((await unlock(writer, id)).status).toBe(404);
});

test("the rights are those of fetches and pushes", async () => {
  const object = objectOf("of the team");
  await writer.upload([object]);
  const asks = (client: LfsClient) =>
    Promise.all([
      client.batch("download", [object]),
      client.ask("GET", "locks", "list"),
      client.batch("upload", [object]),
      client.ask("POST", "locks/verify", "verify", {}),
      lock(client, "rights.bin"),
      client.ask("POST", "nothing", "error", {}),
    ]).then((answers) => answers.map(({ status }) => status));
  expect(await asks(nobody)).toEqual([401, 401, 401, 401, 401, 401]);
  expect(await asks(stranger)).toEqual([404, 404, 404, 404, 404, 404]);
  expect(await asks(reader)).toEqual([200, 200, 403, 403, 403, 404]);
  expect(await asks(writer)).toEqual([200, 200, 200, 200, 201, 404]);
  expect([(await nobody.get(object.oid)).status, (await stranger.get(object.oid)).status]).toEqual([401, 404]);
  expect([(await reader.get(object.oid)).status, (await reader.put(object)).status]).toEqual([200, 403]);
  const asked = await nobody.batch("download", [object]);
  expect(asked.headers.get("LFS-Authenticate")).toContain("Basic");
  const wrong = new LfsClient(`${server.url}/${REPOSITORY}.git`, "hf_wrong");
  expect((await wrong.batch("download", [object])).status).toBe(401);
});

test("tokens of another repository, expired and revoked ones are good for nothing", { tags: "sweep" }, async () => {
  await askAs(ADMIN_TOKEN, "POST", "/repos", { owner: "locks", name: "others" });
  const tokenOf = async (more: Record<string, unknown>): Promise<{ token: string; id: string }> =>
    (await askAs(ADMIN_TOKEN, "POST", "/tokens", {
      owner: "locks",
      name: "one more",
      right: "write",
      ...more,
    })) as never;
  const foreign = await tokenOf({ repository: "others" });
  const expiresMs = Date.now() + 1_500;
  const short = await tokenOf({ expiresAt: new Date(expiresMs).toISOString() });
  const revoked = await tokenOf({});
  const object = objectOf("for a while");
  const asks = async ({ token }: { token: string }): Promise<number[]> => {
    const client = new LfsClient(`${server.url}/${REPOSITORY}.git`, token);
    const upload = await client.put(object);
    await upload.arrayBuffer();
    const download = await client.get(object.oid);
    await download.arrayBuffer();
    return [(await client.batch("upload", [object])).status, upload.status, download.status];
  };
  expect(await asks(short)).toEqual([200, 200, 200]);
  expect(await asks(foreign)).toEqual([404, 404, 404]);
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  expect((await fetch(`${server.url}/api/tokens/${revoked.id}`, { method: "DELETE", headers })).status).toBe(204);
  expect(await asks(revoked)).toEqual([401, 401, 401]);
  await sleep(Math.max(0, expiresMs - Date.now()));
  expect(await asks(short)).toEqual([401, 401, 401]);
});

test("who may not move a ref may not lock files or send objects for it", async () => {
  const rules = [{ pattern: "refs/heads/release", allowedTokens: [] }];
  await askAs(ADMIN_TOKEN, "PUT", `/repos/${REPOSITORY}/protected-refs`, { rules });
  const ref = { name: "refs/heads/release" };
  const refused = await lock(writer, "released.bin", { ref });
  expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining("refs/heads/release")]);
  expect((await writer.batch("upload", [objectOf("r")], { ref })).status).toBe(403);
  expect((await writer.batch("download", [objectOf("r")], { ref })).status).toBe(200);
  expect((await lock(admin, "released.bin", { ref })).status).toBe(201);
  expect((await lock(writer, "other.bin")).status).toBe(201);
});
