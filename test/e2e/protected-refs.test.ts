// Rules for refs hold on every way in which a ref can move.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ProtectedRefs } from "../../src/base/access/ref-rules.ts";
import { type Answer, askApi } from "../harness/api.ts";
import { git, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { packOf } from "../harness/pack-builder.ts";
import { encodePushHead, PUSH_TYPE, readRefs, sendBody } from "../harness/raw-push.ts";
import { type Server, startServer } from "../harness/server.ts";

const ADMIN = "correct-horse-battery";
const ADA = { name: "Ada Example", email: "ada@example.com" };
const NAME = "me/history";

let server: Server;
let history: string;
let writer: { id: string; token: string };
let other: { id: string; token: string };

type Init = { method?: string; json?: unknown };

const urlOf = (token: string, name = NAME): string => `${server.url.replace("://", `://git:${token}@`)}/${name}`;

function ask<Body = Record<string, unknown>>(path: string, token: string, init: Init = {}): Promise<Answer<Body>> {
  return askApi<Body>(server, path, { ...init, headers: { Authorization: `Bearer ${token}` } });
}

async function makeToken(more: Record<string, unknown> = {}): Promise<{ id: string; token: string }> {
  const json = { owner: "me", name: "a test", right: "write", ...more };
  const { status, body } = await ask<{ id: string; token: string }>("/tokens", ADMIN, { method: "POST", json });
  expect(status).toBe(201);
  return body;
}

async function protect(...rules: (Partial<ProtectedRefs> & { pattern: string })[]): Promise<void> {
  const { status } = await ask(`/repos/${NAME}/protected-refs`, ADMIN, { method: "PUT", json: { rules } });
  expect(status).toBe(200);
}

/** Brings every ref of the server back to its initial value. */
async function reset(): Promise<void> {
  await protect();
  const begin = { "heads/rel": "main~3", "heads/side": "main~2", "heads/ahead": "main", "tags/v1": "main~3" };
  const isExtra = (name: string): boolean => name !== "heads/main" && !(name in begin);
  const names = [...(await refsNow()).keys()].map((name) => name.slice("refs/".length));
  await Promise.all([
    ...names.filter(isExtra).map((name) => call(ADMIN, `/refs/${name}`, "DELETE")),
    ...Object.entries(begin).map(([name, target]) => call(ADMIN, `/refs/${name}`, "PUT", { target, force: true })),
  ]);
}

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN } });
  history = await makeHistory({ commits: 6, files: 3 });
  await git(history, "push", "-q", urlOf(ADMIN), "main");
  [writer, other] = [await makeToken(), await makeToken()];
});
afterAll(() => server.close());

const refsNow = (): Promise<Map<string, string>> => readRefs(urlOf(ADMIN));
const tip = (revision: string): Promise<string> => git(history, "rev-parse", revision);

/** What can be done to a ref, on each way; the answer says whether it was done. */
type Act = "create" | "forward" | "backward" | "delete";

interface Door {
  readonly name: string;
  readonly act: Act;
  /** The ref that is changed; default `refs/heads/rel`. */
  readonly ref?: string;
  readonly pass: (token: string) => Promise<boolean>;
}

async function push(token: string, ...args: string[]): Promise<boolean> {
  const { code, stderr } = await tryGit(history, ["push", urlOf(token), ...args]);
  if (code !== 0) expect(stderr).toMatch(/\[remote rejected\] .*\(protected: .*\)/);
  return code === 0;
}

async function call(token: string, path: string, method: string, json?: unknown): Promise<boolean> {
  const { status, body } = await ask(
    `/repos/${NAME}${path}`,
    token,
    json === undefined ? { method } : { method, json },
  );
  if (status >= 400) {
    expect(body).toMatchObject({ error: { code: "forbidden", message: expect.stringContaining("protected: ") } });
    expect(status).toBe(403);
  }
  return status < 400;
}

const merging = { author: ADA, base: "rel", head: "ahead" };
const picking = { committer: ADA, branch: "rel", commit: "ahead" };

const DOORS: readonly Door[] = [
  { name: "git push", act: "create", ref: "refs/heads/rel-2", pass: (t) => push(t, "main~1:refs/heads/rel-2") },
  { name: "git push", act: "forward", pass: (t) => push(t, "main~1:refs/heads/rel") },
  { name: "git push --force", act: "backward", pass: (t) => push(t, "--force", "main~4:refs/heads/rel") },
  { name: "git push --delete", act: "delete", pass: (t) => push(t, ":refs/heads/rel") },
  {
    name: "POST /commits",
    act: "forward",
    pass: (t) =>
      call(t, "/commits", "POST", {
        branch: "rel",
        message: "m",
        author: ADA,
        operations: [{ op: "put", path: "new", content: "new\n" }],
      }),
  },
  {
    name: "POST /commits on a new branch",
    act: "create",
    ref: "refs/heads/rel-2",
    pass: (t) =>
      call(t, "/commits", "POST", {
        branch: "rel-2",
        startPoint: "main",
        message: "m",
        author: ADA,
        operations: [{ op: "put", path: "new", content: "new\n" }],
      }),
  },
  { name: "POST /merge, fast-forward", act: "forward", pass: (t) => call(t, "/merge", "POST", merging) },
  {
    name: "POST /merge, a commit",
    act: "forward",
    pass: (t) => call(t, "/merge", "POST", { ...merging, fastForward: "never" }),
  },
  { name: "POST /cherry-pick", act: "forward", pass: (t) => call(t, "/cherry-pick", "POST", picking) },
  {
    name: "POST /revert",
    act: "forward",
    pass: (t) => call(t, "/revert", "POST", { author: ADA, branch: "rel", commit: "rel" }),
  },
  {
    name: "POST /branches",
    act: "create",
    ref: "refs/heads/rel-2",
    pass: (t) => call(t, "/branches", "POST", { name: "rel-2", startPoint: "main" }),
  },
  {
    name: "PATCH /branches, forward",
    act: "forward",
    pass: (t) => call(t, "/branches/rel", "PATCH", { target: "main" }),
  },
  {
    name: "PATCH /branches, forced",
    act: "backward",
    pass: (t) => call(t, "/branches/rel", "PATCH", { target: "main~4", force: true }),
  },
  {
    name: "PATCH /branches, away",
    act: "delete",
    pass: (t) => call(t, "/branches/rel", "PATCH", { newName: "elsewhere" }),
  },
  {
    name: "PATCH /branches, to here",
    act: "create",
    ref: "refs/heads/rel-2",
    pass: (t) => call(t, "/branches/side", "PATCH", { newName: "rel-2" }),
  },
  { name: "DELETE /branches", act: "delete", pass: (t) => call(t, "/branches/rel", "DELETE") },
  {
    name: "PUT /refs, new",
    act: "create",
    ref: "refs/heads/rel-2",
    pass: (t) => call(t, "/refs/heads/rel-2", "PUT", { target: "main" }),
  },
  { name: "PUT /refs, forward", act: "forward", pass: (t) => call(t, "/refs/heads/rel", "PUT", { target: "main" }) },
  {
    name: "PUT /refs, forced",
    act: "backward",
    pass: (t) => call(t, "/refs/heads/rel", "PUT", { target: "main~4", force: true }),
  },
  { name: "DELETE /refs", act: "delete", pass: (t) => call(t, "/refs/heads/rel", "DELETE") },
];

const RULES: readonly (readonly [string, Partial<ProtectedRefs>, readonly Act[]])[] = [
  ["noForce", { noForce: true }, ["backward"]],
  ["noDelete", { noDelete: true }, ["delete"]],
  ["fastForwardOnly", { fastForwardOnly: true }, ["backward", "delete"]],
  ["allowedTokens", { allowedTokens: [] }, ["create", "forward", "backward", "delete"]],
];

test.each(RULES)("%s holds at every door", async (_, rule, forbidden) => {
  await reset();
  await protect({ pattern: "refs/heads/rel*", ...rule });
  const before = await refsNow();
  const doors = DOORS.filter(({ act }) => forbidden.includes(act));
  for (const { name, pass } of doors) expect(await pass(writer.token), name).toBe(false);
  expect(await refsNow()).toEqual(before);
  if (!forbidden.includes("forward")) expect(await push(writer.token, "main~2:refs/heads/rel")).toBe(true);
});

test("at every door, who is allowed gets through", { tags: "sweep" }, async () => {
  for (const { name, ref = "refs/heads/rel", pass } of DOORS) {
    await reset();
    await protect({ pattern: "refs/heads/rel*", allowedTokens: [writer.id] });
    const before = (await refsNow()).get(ref);
    expect(await pass(writer.token), name).toBe(true);
    expect((await refsNow()).get(ref), name).not.toBe(before);
  }
});

test("a token's own patterns hold at every door", async () => {
  await reset();
  const bound = await makeToken({ refs: [{ pattern: "refs/heads/agent/**" }] });
  for (const { name, pass } of DOORS) expect(await pass(bound.token), name).toBe(false);
  expect(await push(bound.token, "main:refs/heads/agent/one")).toBe(true);
  expect(await push(bound.token, "--force", "main~3:refs/heads/agent/one")).toBe(true);
  const careful = await makeToken({ refs: [{ pattern: "refs/heads/agent/**", noForce: true, noDelete: true }] });
  expect(await push(careful.token, "--force", "main~4:refs/heads/agent/one")).toBe(false);
  expect(await push(careful.token, ":refs/heads/agent/one")).toBe(false);
  expect(await push(careful.token, "main:refs/heads/agent/one")).toBe(true);
});

test("tags: noForce holds them still, by git and by the API; fastForwardOnly lets them grow", async () => {
  await reset();
  await protect({ pattern: "refs/tags/**", noForce: true });
  expect(await push(ADMIN, "--force", "main:refs/tags/v1")).toBe(false);
  const tag = { target: "main", force: true };
  expect(await call(ADMIN, "/tags/v1", "PATCH", tag)).toBe(false);
  const annotation = { message: "m", tagger: ADA };
  expect(await call(writer.token, "/tags/v1", "PATCH", { ...tag, ...annotation })).toBe(false);
  expect(await call(writer.token, "/tags", "POST", { name: "v2", target: "main" })).toBe(true);
  await protect({ pattern: "refs/tags/**", fastForwardOnly: true });
  expect(await call(writer.token, "/tags/v2", "PATCH", { newName: "v3" })).toBe(false);
  expect(await push(writer.token, "--force", "main:refs/tags/v1")).toBe(true);
  expect(await push(writer.token, "--force", "main~1:refs/tags/v1")).toBe(false);
});

test("only allowed tokens and admins change what is theirs", async () => {
  await reset();
  await protect({ pattern: "refs/heads/rel", allowedTokens: [writer.id] });
  expect(await push(other.token, "main~2:refs/heads/rel")).toBe(false);
  expect(await push(writer.token, "main~2:refs/heads/rel")).toBe(true);
  expect(await push(ADMIN, "main~1:refs/heads/rel")).toBe(true);
});

test("the other refs of a push go on, unless it is atomic", async () => {
  await reset();
  await protect({ pattern: "refs/heads/rel", noDelete: true, noForce: true });
  const both = ["--force", urlOf(writer.token), "main~4:refs/heads/rel", "main:refs/heads/free"];
  const atomic = await tryGit(history, ["push", "--atomic", ...both]);
  expect(atomic.stderr).toContain("protected: refs/heads/rel can only be fast-forwarded");
  expect(atomic.stderr).toContain("atomic push failure");
  expect((await refsNow()).has("refs/heads/free")).toBe(false);
  const single = await tryGit(history, ["push", ...both]);
  expect(single.stderr).toMatch(
    /\[remote rejected\] main~4 -> rel \(protected: refs\/heads\/rel can only be fast-forwarded\)/,
  );
  expect((await refsNow()).get("refs/heads/free")).toBe(await tip("main"));
  expect((await refsNow()).get("refs/heads/rel")).toBe(await tip("main~3"));
});

test("a merge that is only tried tells of the refusal", async () => {
  await reset();
  await protect({ pattern: "refs/heads/rel", allowedTokens: [] });
  for (const fastForward of ["allow", "never"]) {
    const json = { ...merging, fastForward, dryRun: true };
    expect(await call(writer.token, "/merge", "POST", json)).toBe(false);
    expect(await call(ADMIN, "/merge", "POST", json)).toBe(true);
  }
});

test("required checks hold merges and picks, and no other change", { tags: "sweep" }, async () => {
  await reset();
  await protect({ pattern: "refs/heads/rel*", requiredContexts: ["ci/tests", "ci/ü"] });
  const isMerge = ({ name }: Door): boolean => /merge|cherry-pick/.test(name);
  const set = (state: string, context: string) =>
    call(writer.token, "/commits/ahead/statuses", "POST", { state, context });
  const before = await refsNow();
  for (const { name, pass } of DOORS.filter(isMerge)) {
    for (const token of [writer.token, ADMIN]) expect(await pass(token), name).toBe(false);
  }
  await set("success", "ci/tests");
  await set("failure", "ci/ü");
  for (const dryRun of [true, false]) {
    const { status, body } = await ask(`/repos/${NAME}/merge`, ADMIN, { method: "POST", json: { ...merging, dryRun } });
    const unmet = `ci/ü (failure) for ${(await tip("main")).slice(0, 12)}`;
    expect(status).toBe(403);
    expect(body).toMatchObject({
      error: { message: expect.stringContaining(`requires checks that have not succeeded: ${unmet}`) },
    });
  }
  expect(await refsNow()).toEqual(before);
  for (const { name, pass } of DOORS.filter((one) => !isMerge(one))) {
    await reset();
    await protect({ pattern: "refs/heads/rel*", requiredContexts: ["ci/tests", "ci/ü"] });
    expect(await pass(writer.token), name).toBe(true);
  }
  await set("success", "ci/ü");
  for (const { name, pass } of DOORS.filter(isMerge)) {
    await reset();
    await protect({ pattern: "refs/heads/rel*", requiredContexts: ["ci/tests", "ci/ü"] });
    expect(await pass(writer.token), name).toBe(true);
  }
});

test("a restore is held against the rules", async () => {
  await ask("/repos", ADMIN, { method: "POST", json: { owner: "me", name: "restored" } });
  const rules = [{ pattern: "refs/heads/main", allowedTokens: [] }];
  await ask("/repos/me/restored/protected-refs", ADMIN, { method: "PUT", json: { rules } });
  const bundle = (await tryGit(history, ["bundle", "create", "-q", "-", "main"])).stdoutBytes;
  const restore = (token: string) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/x-git-bundle" };
    return askApi(server, "/repos/me/restored/backup.bundle", { method: "PUT", body: new Uint8Array(bundle), headers });
  };
  const refused = await restore(writer.token);
  expect(refused.status).toBe(403);
  expect(refused.body).toMatchObject({
    error: { message: expect.stringContaining("refs/heads/main may be changed only by admins") },
  });
  expect((await restore(ADMIN)).status).toBe(201);
});

test("rules are set by admins, shown to readers, kept in their order, and bounded", { tags: "sweep" }, async () => {
  const reader = await makeToken({ right: "read" });
  const path = `/repos/${NAME}/protected-refs`;
  const rules = [
    {
      pattern: "refs/heads/ü*",
      noForce: true,
      noDelete: false,
      fastForwardOnly: false,
      allowedTokens: [reader.id],
      requiredContexts: [],
    },
    {
      pattern: "refs/heads/a",
      noForce: false,
      noDelete: true,
      fastForwardOnly: true,
      allowedTokens: null,
      requiredContexts: ["ci/ü"],
    },
  ];
  const set = async (token: string, json: unknown) => (await ask(path, token, { method: "PUT", json })).status;
  expect(await set(writer.token, { rules })).toBe(403);
  expect(await set(ADMIN, { rules })).toBe(200);
  expect((await ask(path, reader.token)).body).toEqual({ rules });
  await server.restart();
  expect((await ask(path, reader.token)).body).toEqual({ rules });
  const rule = { pattern: "refs/heads/a" };
  expect(await set(ADMIN, { rules: Array.from({ length: 101 }, () => rule) })).toBe(422);
  expect(await set(ADMIN, { rules: [{ pattern: "heads/a" }] })).toBe(422);
  expect(await set(ADMIN, { rules: [{ ...rule, requiredContexts: ["a\nb"] }] })).toBe(422);
  expect(await set(ADMIN, { rules: [{ ...rule, requiredContexts: Array(21).fill("ci") }] })).toBe(422);
  expect(await set(ADMIN, { rules: [{ pattern: "refs/heads/\na" }] })).toBe(422);
  expect(await set(ADMIN, { rules: [] })).toBe(200);
});

test("a rule for a token that cannot reach the repository is refused", async () => {
  const path = `/repos/${NAME}/protected-refs`;
  const set = (...allowedTokens: string[]) =>
    ask(path, ADMIN, { method: "PUT", json: { rules: [{ pattern: "refs/heads/a", allowedTokens }] } });
  expect((await set(writer.id)).status).toBe(200);
  const elsewhere = await makeToken({ owner: "somebody", repository: undefined });
  for (const unknown of ["no-such-token", elsewhere.id]) {
    const { status, body } = await set(writer.id, unknown);
    expect(status).toBe(422);
    const message = expect.stringMatching(new RegExp(`no token for this repository.*${unknown}$`));
    expect(body).toMatchObject({ error: { code: "invalid", field: "allowedTokens", message } });
  }
  // The earlier rules are still in place.
  expect((await ask(path, ADMIN)).body).toMatchObject({ rules: [{ allowedTokens: [writer.id] }] });
  expect((await ask(path, ADMIN, { method: "PUT", json: { rules: [] } })).status).toBe(200);
});

test("the fsck setting is changed by admins alone", async () => {
  const option = (token: string, branch: string) =>
    tryGit(history, ["push", "-o", "fsck=lenient", urlOf(token), `main:refs/heads/${branch}`]);
  const refused = await option(writer.token, "fsck-1");
  expect(refused.stderr).toContain("push option fsck=lenient is not allowed: it needs the right 'admin'");
  expect((await refsNow()).has("refs/heads/fsck-1")).toBe(false);
  expect((await option(ADMIN, "fsck-2")).code).toBe(0);
});

test("what an upload has brought before it is complete, who writes may name, where they may write, and nobody may read", async () => {
  const name = "me/arriving";
  await ask("/repos", ADMIN, { method: "POST", json: { owner: "me", name: "arriving" } });
  const limited = await makeToken({ repository: "arriving", refs: [{ pattern: "refs/heads/topic/*" }] });
  const reader = await makeToken({ repository: "arriving", right: "read" });
  const commit = await tip("main");
  const begun = await ask<{ id: string }>(`/repos/${name}/uploads`, writer.token, { method: "POST", json: {} });
  const pack = (await tryGit(history, ["pack-objects", "-q", "--revs", "--stdout"], { stdin: `${commit}\n` }))
    .stdoutBytes;
  const sent = await askApi(server, `/repos/${name}/uploads/${begun.body.id}/packs?tips=${commit}`, {
    method: "POST",
    body: new Uint8Array(pack),
    headers: { Authorization: `Bearer ${writer.token}`, "Content-Type": "application/octet-stream" },
  });
  expect([sent.status, sent.body]).toMatchObject([200, { complete: false, tips: [commit] }]);

  const point = (token: string, ref: string) => {
    const head = encodePushHead({ commands: [{ name: ref, new: commit }] });
    const headers = { ...PUSH_TYPE, Authorization: `Basic ${btoa(`x:${token}`)}` };
    return sendBody(`${server.url}/${name}`, Buffer.concat([head, packOf()]), headers);
  };
  // Neither is the session told to others, nor are its objects.
  for (const token of [limited.token, reader.token, ADMIN]) {
    for (const path of [`/commits/${commit}`, `/git/commits/${commit}`, `/files?ref=${commit}`])
      expect([path, (await ask(`/repos/${name}${path}`, token)).status]).toEqual([path, 404]);
    const pushes = await ask(`/repos/${name}/pushes`, token);
    expect(JSON.stringify(pushes.body)).not.toContain(commit);
  }
  expect(await point(reader.token, "refs/heads/topic/a")).toMatchObject({ status: 403 });
  expect((await point(limited.token, "refs/heads/main")).refs.get("refs/heads/main")).toContain("protected");
  expect((await point(limited.token, "refs/heads/topic/a")).refs.get("refs/heads/topic/a")).toBe(null);
  expect((await readRefs(urlOf(ADMIN, name))).get("refs/heads/topic/a")).toBe(commit);
  // The session goes on as if nothing had been.
  const refs = [{ name: "refs/heads/main", old: null, new: commit }];
  const path = `/repos/${name}/uploads/${begun.body.id}/complete`;
  expect((await ask(path, writer.token, { method: "POST", json: { refs } })).body).toMatchObject({
    refs: [{ name: "refs/heads/main", refused: null }],
  });
});
