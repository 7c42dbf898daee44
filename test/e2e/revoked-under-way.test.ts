/** A request that began while it was allowed does not finish once it is not: slow pushes that last
 * longer than any cached answer. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { encodePushHead, type PushAnswer, readRefs, sendBody } from "../harness/raw-push.ts";
import { request } from "../harness/raw.ts";
import { type Server, startServer } from "../harness/server.ts";

const ADMIN = "correct-horse-battery";
/** How long an isolate caches the registry's answers here; the default is ten seconds. */
const ANSWER_LIFE_MS = 2_000;
let server: Server;

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN }, constants: { ANSWER_LIFE_MS } });
});
afterAll(() => server.close());

const urlOf = (name: string, token: string): string => `${server.url.replace("://", `://git:${token}@`)}/${name}`;

async function asAdmin<Body>(method: string, path: string, json?: object): Promise<Body> {
  const headers = { Authorization: `Bearer ${ADMIN}` };
  const { status, body } = await askApi<Body>(server, path, { method, headers, json });
  expect(status, `${method} ${path}`).toBeLessThan(300);
  return body;
}

interface Made {
  readonly id: string;
  readonly token: string;
}

const makeToken = (wanted: object = {}): Promise<Made> =>
  asAdmin("POST", "/tokens", { owner: "me", name: "t", right: "write", ...wanted });

/** A body in two parts. The second is sent when every answer cached during the first has
 * expired. */
async function* trickle(body: Buffer, meanwhile: () => Promise<unknown>): AsyncGenerator<Buffer> {
  yield body.subarray(0, body.length - 1_000);
  await sleep(1_000);
  await meanwhile();
  await sleep(ANSWER_LIFE_MS);
  yield body.subarray(body.length - 1_000);
}

/** Pushes a few MB to a new branch. */
function push(name: string, token: string, meanwhile: () => Promise<unknown>): Promise<PushAnswer> {
  const blob = makeObject("blob", randomBytes(3_000_000));
  const tree = makeTree(["100644", "file", blob]);
  const commit = makeCommit(tree);
  const head = encodePushHead({ commands: [{ name: "refs/heads/late", new: commit.oid }] });
  return sendBody(urlOf(name, token), trickle(Buffer.concat([head, packOf(blob, tree, commit)]), meanwhile));
}

/** The same, with a token that expires during the push. */
async function pushWithExpiring(name: string): Promise<PushAnswer> {
  const expiresMs = Date.now() + 4_000;
  const { token } = await makeToken({ expiresAt: new Date(expiresMs).toISOString() });
  return push(name, token, () => sleep(expiresMs - Date.now()));
}

const REFUSED = {
  unpack: expect.stringContaining("a valid token is needed: the one that was shown has been revoked") as string,
  refs: new Map([["refs/heads/late", "unpacker error"]]),
};

test("what is under way does not land once its token is good for nothing", { tags: "sweep" }, async () => {
  const history = await makeHistory({ commits: 2, files: 2 });
  const names = ["revoked", "expired", "given", "kept"];
  await Promise.all(names.map((name) => git(history, "push", urlOf(`me/${name}`, ADMIN), "HEAD:refs/heads/main")));
  await git(history, "bundle", "create", "all.bundle", "--all");
  const bundle = await readFile(join(history, "all.bundle"));
  await asAdmin("POST", "/repos", { owner: "me", name: "restored" });
  const [revoked, given, kept, made, restoring] = await Promise.all([
    makeToken(),
    makeToken(),
    makeToken(),
    makeToken(),
    makeToken(),
  ]);
  const revoke = (token: Made) => () => asAdmin("DELETE", `/tokens/${token.id}`);
  const restore = request(`${server.url}/api/repos/me/restored/backup.bundle`, {
    method: "PUT" as "POST",
    headers: { Authorization: `Bearer ${restoring.token}`, "Content-Type": "application/x-git-bundle" },
    body: trickle(bundle, revoke(restoring)),
  });
  const answers = await Promise.all([
    push("me/revoked", revoked.token, revoke(revoked)),
    pushWithExpiring("me/expired"),
    push("me/given", given.token, () => asAdmin("PATCH", "/repos/me/given", { owner: "you" })),
    push("me/made", made.token, revoke(made)),
    push("me/kept", kept.token, async () => undefined),
  ]);
  for (const answer of answers.slice(0, -1)) expect(answer).toMatchObject(REFUSED);
  expect(answers.at(-1)!).toMatchObject({ unpack: "ok", refs: new Map([["refs/heads/late", null]]) });
  const { status, body } = await restore;
  expect([status, body.toString()]).toEqual([401, expect.stringContaining('"unauthenticated"')]);
  for (const name of ["me/revoked", "me/expired", "you/given"]) {
    expect([...(await readRefs(urlOf(name, ADMIN))).keys()], name).toEqual(["refs/heads/main"]);
  }
  expect([...(await readRefs(urlOf("me/restored", ADMIN))).keys()]).toEqual([]);
  const { repositories } = await asAdmin<{ repositories: { id: string; name: string }[] }>("GET", "/repos/me");
  expect(repositories.map(({ name }) => name)).toEqual(["expired", "kept", "restored", "revoked"]);
  // The chunks of the refused pushes are swept; those of the accepted one exist.
  const { id } = repositories.find(({ name }) => name === "kept")!;
  await expect
    .poll(async () => [...(await server.readObjects("/chunks/")).keys()].filter((key) => !key.startsWith(id)))
    .toEqual([]);
  expect([...(await server.readObjects(id)).keys()]).not.toEqual([]);
});
