// Branches that go from one repository of a family to another: sync, merges, comparisons.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { findProblems } from "../../harness/find-problems.ts";
import { git, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import type { Server } from "../../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../../harness/shared-server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

const ADA = { name: "Ada Example", email: "ada@example.com" };

/** Another owner, of forks. */
const KIN = "kindred";

let server: Pick<Server, "url">;
let source: string;

beforeAll(async () => {
  server = await shareServer("family");
  await shareServer(KIN);
  source = await makeHistory({ commits: 300, files: 50, branches: 2, merges: 1 });
});

const urlOf = (name: string, owner = "family"): string => `${server.url}/${owner}/${name}.git`;
const ask = <Body = Record<string, unknown>>(method: string, path: string, json?: unknown) =>
  askApi<Body>(server, `/repos/family${path}`, { method, ...(json === undefined ? {} : { json }) });

/** A repository with the history, a fork of it, and a clone of each. */
async function makeFamily(name: string) {
  await git(source, "push", "-q", urlOf(name), "refs/heads/*:refs/heads/*");
  expect((await ask("POST", `/${name}/forks`, { name: `${name}-fork` })).status).toBe(201);
  const clone = async (of: string): Promise<string> => {
    const dir = join(makeTempDir("clone"), "c");
    await git(source, "clone", "-q", urlOf(of), dir);
    await git(dir, "config", "user.name", ADA.name);
    await git(dir, "config", "user.email", ADA.email);
    return dir;
  };
  return { upstream: await clone(name), fork: await clone(`${name}-fork`) };
}

/** Commits files and pushes the branch. @returns the commit's id */
async function commit(dir: string, branch: string, files: Record<string, string>): Promise<string> {
  await git(dir, "checkout", "-q", "-B", branch);
  for (const [path, text] of Object.entries(files)) {
    const { stdout } = await tryGit(dir, ["hash-object", "-w", "--stdin"], { stdin: text });
    await git(dir, "update-index", "--add", "--cacheinfo", `100644,${stdout.trim()},${path}`);
  }
  await git(dir, "commit", "-q", "-m", `change ${Object.keys(files).join(", ")}`);
  await git(dir, "push", "-q", "origin", branch);
  return git(dir, "rev-parse", "HEAD");
}

const lines = (count: number, word: string): string =>
  Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join("");

/** A fresh clone has what git has of the same commit, and the server finds nothing wrong. */
async function expectWhole(name: string, branch: string, like: string): Promise<void> {
  const dir = join(makeTempDir("mirror"), "m.git");
  await git(source, "clone", "-q", "--mirror", urlOf(name), dir);
  await git(dir, "fsck", "--strict");
  expect(await git(dir, "rev-parse", branch)).toBe(like);
  expect(await findProblems(urlOf(name))).toEqual([]);
}

test("a fork's branch follows the parent's, by small pushes and large ones", { tags: "sweep" }, async () => {
  const { upstream, fork } = await makeFamily("followed");
  const sync = (json: unknown = {}) => ask("POST", "/followed-fork/sync", json);
  expect((await sync()).body).toMatchObject({ kind: "up-to-date", branch: "main" });
  // Small enough to stay in the parent's database, then large enough for R2.
  const small = await commit(upstream, "main", { "small.txt": "small\n" });
  expect((await sync()).body).toEqual({ kind: "fast-forward", branch: "main", commit: small });
  const noise = Array.from({ length: 30 }, (_, i) => [`noise/${i}`, randomBytes(20_000).toString("base64")]);
  const large = await commit(upstream, "main", Object.fromEntries(noise));
  const before = (await ask("GET", "/followed-fork")).body;
  expect((await sync({ branch: "main" })).body).toEqual({ kind: "fast-forward", branch: "main", commit: large });
  await expectWhole("followed-fork", "main", large);
  await expect
    .poll(async () => (await ask("GET", "/followed-fork")).body["sharedBytes"])
    .toBeGreaterThan((before["sharedBytes"] as number) + 50_000);
  // The other way, by name, and into a branch that is not there yet.
  const topic = await commit(fork, "topic", { "topic.txt": "a topic\n" });
  const named = { branch: "topic", from: "family/followed-fork:topic" };
  expect((await ask("POST", "/followed/sync", named)).body).toEqual({
    kind: "created",
    branch: "topic",
    commit: topic,
  });
  await expectWhole("followed", "topic", topic);
  // A branch with commits of its own stays.
  await git(fork, "fetch", "-q", "origin");
  await git(fork, "checkout", "-q", "-B", "main", "origin/main");
  await commit(fork, "main", { "own.txt": "own\n" });
  await commit(upstream, "main", { "theirs.txt": "theirs\n" });
  const refused = await ask<{ error: { message: string } }>("POST", "/followed-fork/sync", {});
  expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining("commits of its own")]);
  expect(await findProblems(urlOf("followed-fork"))).toEqual([]);
});

test("a branch of a fork is compared, merged, and refused with its conflicts", { tags: "sweep" }, async () => {
  const { upstream, fork } = await makeFamily("merged");
  const topic = await commit(fork, "topic", { "a.txt": lines(20, "topic"), "b.txt": "b\n" });
  const ours = await commit(upstream, "main", { "c.txt": "c\n" });
  const base = await git(fork, "rev-parse", "topic~1");

  const range = "main...family/merged-fork:topic";
  const compared = await ask<{ commits: { id: string }[]; files: { path: string }[] }>(
    "GET",
    `/merged/compare/${encodeURIComponent(range)}`,
  );
  expect(compared.body).toMatchObject({ base: ours, head: topic, mergeBase: base, ahead: 1, behind: 1 });
  expect(compared.body.files).toHaveLength(2);
  expect(compared.body.commits).toHaveLength(1);
  const reverse = await ask("GET", `/merged-fork/compare/${encodeURIComponent("family/merged:main...topic")}`);
  expect(reverse.body).toMatchObject({ base: ours, head: topic, mergeBase: base, ahead: 1, behind: 1 });
  const patch = await ask<string>("GET", `/merged/compare/${encodeURIComponent(range)}?format=diff`);
  expect(`${patch.body}`.trim()).toBe(await git(fork, "diff", "--full-index", base, topic));
  const found = await ask("GET", `/merged/merge-base?base=main&head=${encodeURIComponent("family/merged-fork:topic")}`);
  expect(found.body).toEqual({ base: ours, heads: [topic], mergeBases: [base] });
  // Comparing has left nothing.
  expect((await ask("GET", `/merged/commits/${topic}`)).status).toBe(404);

  const merge = (json: Record<string, unknown>) =>
    ask<{ kind: string; commit: string; parents: string[]; error: { conflicts: unknown[] } }>("POST", "/merged/merge", {
      base: "main",
      head: "family/merged-fork:topic",
      author: ADA,
      ...json,
    });
  expect((await merge({ dryRun: true })).body).toMatchObject({ kind: "merge", commit: null });
  expect((await ask("GET", `/merged/commits/${topic}`)).status).toBe(404);
  const merged = await merge({});
  expect([merged.status, merged.body.parents]).toEqual([201, [ours, topic]]);
  await git(upstream, "fetch", "-q", "origin", "main");
  expect(await git(upstream, "log", "-1", "--format=%s", "FETCH_HEAD")).toBe(
    "Merge branch 'topic' of family/merged-fork",
  );
  await git(upstream, "fetch", "-q", fork, "topic");
  const tree = await git(upstream, "merge-tree", "--write-tree", ours, topic);
  expect(await git(upstream, "rev-parse", `${merged.body.commit}^{tree}`)).toBe(tree);
  await expectWhole("merged", "main", merged.body.commit);

  const conflicting = await commit(fork, "rival", { "c.txt": "another c\n" });
  const refused = await merge({ head: "family/merged-fork:rival" });
  expect([refused.status, refused.body.error.conflicts.length]).toEqual([409, 1]);
  // What was not merged is not there, by any way in.
  expect((await ask("GET", `/merged/commits/${conflicting}`)).status).toBe(404);
  expect((await tryGit(upstream, ["fetch", "origin", conflicting])).stderr).toContain("not our ref");
  expect(await findProblems(urlOf("merged"))).toEqual([]);
  // The fork may go: what was merged stays.
  expect((await ask("DELETE", "/merged-fork")).status).toBe(204);
  await expectWhole("merged", "main", merged.body.commit);
});

test(
  "a branch is named by its owner alone, where this has one repository of the family",
  { tags: "sweep" },
  async () => {
    const { upstream } = await makeFamily("near");
    const askKin = (path: string, json: unknown) => askApi(server, `/repos/${KIN}${path}`, { method: "POST", json });
    // The owner has a repository of another family, too, whose branches have the same names.
    await git(source, "push", "-q", urlOf("stranger", KIN), "main:refs/heads/topic");
    const json = { owner: KIN, name: "far" };
    expect((await ask("POST", "/near/forks", json)).status).toBe(201);
    const fork = join(makeTempDir("clone"), "c");
    await git(source, "clone", "-q", urlOf("far", KIN), fork);
    await git(fork, "config", "user.name", ADA.name);
    await git(fork, "config", "user.email", ADA.email);
    const base = await git(fork, "rev-parse", "main");
    const topic = await commit(fork, "topic", { "topic.txt": "a topic\n" });
    const ours = await commit(upstream, "main", { "ours.txt": "ours\n" });

    const named = encodeURIComponent(`${KIN}:topic`);
    const compared = await ask("GET", `/near/compare/${encodeURIComponent("main...")}${named}`);
    expect(compared.body).toMatchObject({ base: ours, head: topic, mergeBase: base, ahead: 1, behind: 1 });
    const found = await ask("GET", `/near/merge-base?base=main&head=${named}`);
    expect(found.body).toEqual({ base: ours, heads: [topic], mergeBases: [base] });

    const synced = await ask("POST", "/near/sync", { branch: "taken", from: `${KIN.toUpperCase()}:topic` });
    expect(synced.body).toEqual({ kind: "created", branch: "taken", commit: topic });
    await expectWhole("near", "taken", topic);

    const merge = { base: "main", head: `${KIN}:topic`, author: ADA };
    const merged = await ask<{ commit: string; parents: string[] }>("POST", "/near/merge", merge);
    expect([merged.status, merged.body.parents]).toEqual([201, [ours, topic]]);
    await expectWhole("near", "main", merged.body.commit);
    // The other way; the owner has two of the family, so that this one is named whole.
    expect((await askKin("/far/sync", { branch: "main", from: "family:main" })).status).toBe(422);
    expect((await askKin("/far/sync", { branch: "main", from: "family/near:main" })).body).toEqual({
      kind: "fast-forward",
      branch: "main",
      commit: merged.body.commit,
    });
    expect(await findProblems(urlOf("far", KIN))).toEqual([]);
    // Another fork of that owner makes the short name ambiguous.
    expect((await ask("POST", "/near/forks", { owner: KIN, name: "farther" })).status).toBe(201);
    const refused = await ask<{ error: { message: string } }>("POST", "/near/merge", merge);
    expect([refused.status, refused.body.error.message]).toEqual([
      422,
      expect.stringContaining("owner/repository:branch"),
    ]);
  },
);

test("a repository of another family, or none, is refused in words", async () => {
  await makeFamily("alone");
  await git(source, "push", "-q", urlOf("stranger"), "main");
  const sync = async (from: string) => {
    const { status, body } = await ask<{ error: { message: string } }>("POST", "/alone/sync", { branch: "main", from });
    return [status, body.error?.message];
  };
  expect(await sync("family/stranger:main")).toEqual([404, expect.any(String)]);
  expect(await sync("nobody:main")).toEqual([404, expect.any(String)]);
  expect(await sync("family/alone-fork:none")).toEqual([404, expect.stringContaining("none")]);
  expect(await sync("family:main")).toEqual([expect.any(Number), expect.stringContaining("owner/repository:branch")]);
  expect(await sync("main")).toEqual([422, expect.stringContaining("owner:branch")]);
  const { status, body } = await ask<{ error: { message: string } }>("POST", "/stranger/sync", {});
  expect([status, body.error.message]).toEqual([422, expect.stringContaining("not a fork")]);
});

test("who may not read a repository can neither fork it nor take from it", { tags: "sweep" }, async () => {
  const tokens = await shareServer("secretive", WITH_TOKENS);
  const as = <Body = Record<string, unknown>>(token: string, method: string, path: string, json?: unknown) =>
    askApi<Body>(tokens, path, {
      method,
      ...(json === undefined ? {} : { json }),
      headers: { Authorization: `Bearer ${token}` },
    });
  const tokenFor = async (json: Record<string, unknown>): Promise<string> =>
    (await as<{ token: string }>(ADMIN_TOKEN, "POST", "/tokens", { name: "test", ...json })).body.token;
  const push = (name: string) =>
    git(source, "push", "-q", `${tokens.url.replace("://", `://git:${ADMIN_TOKEN}@`)}/${name}.git`, "main");
  await push("secretive/private");
  const owner = await tokenFor({ owner: "secretive", right: "admin" });
  const other = await tokenFor({ owner: "outsider", right: "admin" });
  const reader = await tokenFor({ owner: "secretive", right: "read" });

  const forkAs = (token: string, json: unknown) => as(token, "POST", "/repos/secretive/private/forks", json);
  expect((await forkAs(other, { owner: "outsider", name: "stolen" })).status).toBe(404);
  expect((await forkAs(reader, { name: "mine" })).status).toBe(403);
  expect((await forkAs(owner, { owner: "outsider", name: "given" })).status).toBe(403);
  expect((await forkAs(ADMIN_TOKEN, { owner: "outsider", name: "given" })).status).toBe(201);
  // Whose parent is private sees none, and cannot publish it.
  expect((await as(other, "GET", "/repos/outsider/given")).body["parent"]).toBeNull();
  expect((await as(ADMIN_TOKEN, "GET", "/repos/outsider/given")).body["parent"]).toEqual({
    owner: "secretive",
    name: "private",
  });
  expect((await as(other, "PATCH", "/repos/outsider/given", { visibility: "public" })).status).toBe(403);
  expect((await as(other, "POST", "/repos/outsider/given/sync", {})).status).toBe(422);
  expect((await as(other, "POST", "/repos/outsider/given/sync", { from: "secretive/private:main" })).status).toBe(404);
  expect((await as(owner, "GET", "/repos/secretive/private/forks")).body["forks"]).toEqual([]);
  expect((await as(ADMIN_TOKEN, "PATCH", "/repos/outsider/given", { visibility: "public" })).status).toBe(200);
});
