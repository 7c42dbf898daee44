/** A policy is asked before refs change, by whatever door: git, the API, uploads. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { PROJECT } from "../harness/build.ts";
import { git, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { readRefs } from "../harness/raw-push.ts";
import { type Server, startServer } from "../harness/server.ts";
import { ADMIN_TOKEN, WITH_TOKENS } from "../harness/shared-server.ts";

const ADA = { name: "Ada Example", email: "ada@example.com" };
const NAME = "policed/repo";
const OPERATOR = { Authorization: `Bearer ${ADMIN_TOKEN}` };

let server: Server;
let history: string;
let url: string;

beforeAll(async () => {
  server = await startServer({
    vars: WITH_TOKENS,
    policy: join(PROJECT, "test/harness/policy-worker.mjs"),
    constants: { POLICY_MS: 500 },
  });
  history = await makeHistory({ commits: 6, files: 3 });
  url = `${server.url.replace("://", `://git:${ADMIN_TOKEN}@`)}/${NAME}`;
  await git(history, "push", "-q", url, "HEAD:refs/heads/main", "HEAD~2:refs/heads/side", "HEAD:refs/tags/v1");
});
afterAll(() => server.close());

const push = (...args: readonly string[]) => tryGit(history, ["push", url, ...args]);
const refs = async (): Promise<string[]> => [...(await readRefs(url)).keys()].toSorted();
const api = (method: string, path: string, json?: unknown) =>
  askApi<{ error?: { message: string } }>(server, `/repos/${NAME}${path}`, { method, json, headers: OPERATOR });

test("git shows the reason of each ref, and the others move unless the push is atomic", async () => {
  const before = await refs();
  const atomic = await push("--atomic", "HEAD:refs/heads/deny-one", "HEAD:refs/heads/fine");
  expect(atomic.code).not.toBe(0);
  expect(atomic.stderr).toContain("deny-one (policy: not refs/heads/deny-one for");
  expect(await refs()).toEqual(before);
  const some = await push("-o", "ticket=12", "HEAD:refs/heads/deny-one", "HEAD:refs/heads/fine");
  expect(some.stderr).toMatch(/! \[remote rejected\] HEAD -> deny-one \(policy: not refs\/heads\/deny-one for/);
  expect(some.stderr).toContain('"owner":"policed","name":"repo"');
  expect(some.stderr).toContain('"caller":{"name":"operator","right":"operate"},"pushOptions":["ticket=12"]');
  expect(await refs()).toEqual([...before, "refs/heads/fine"].toSorted());
});

const SAYS: Readonly<Record<string, string>> = {
  deny: "policy: not refs/heads/",
  throw: "the policy is unavailable for now",
  hang: "the policy is unavailable for now: it did not answer within",
  gone: "the policy is unavailable for now: it answered 502",
  garbled: "the policy is unavailable for now: its answer is neither to allow nor to deny",
};

describe.each(Object.keys(SAYS))("a policy that may %s", (how) => {
  const says = SAYS[how]!;

  test("stops a push by git, whose user reads why", async () => {
    const before = await refs();
    const { code, stderr } = await push(`HEAD:refs/heads/${how}-git`);
    expect(code).not.toBe(0);
    expect(stderr).toContain(says);
    expect(await refs()).toEqual(before);
  });

  const commit = { message: "m", author: ADA, operations: [{ op: "put", path: "new", content: "x" }] };
  test.each([
    ["a commit", "POST", "/commits", { branch: `${how}-new`, startPoint: "main", ...commit }],
    ["a new branch", "POST", "/branches", { name: `${how}-new`, startPoint: "main" }],
    ["a renamed branch", "PATCH", "/branches/side", { newName: `${how}-side` }],
    ["a new tag", "POST", "/tags", { name: `${how}-tag`, target: "main" }],
    ["a new ref", "PUT", `/refs/heads/${how}-ref`, { target: "main" }],
  ])("stops %s", async (_, method, path, json) => {
    const before = await refs();
    const { status, body } = await api(method, path, json);
    expect([how === "deny" ? 403 : 503, status]).toEqual([status, how === "deny" ? 403 : 503]);
    expect(body.error!.message).toContain(says.replace("/heads/", "/"));
    expect(await refs()).toEqual(before);
  });

  test("stops an upload", async () => {
    const before = await refs();
    const main = (await readRefs(url)).get("refs/heads/main")!;
    const { id } = (await api("POST", "/uploads", {})).body as { id: string };
    const ref = { name: `refs/heads/${how}-up`, old: null, new: main };
    const ended = await api("POST", `/uploads/${id}/complete`, { refs: [ref] });
    expect(JSON.stringify(ended.body)).toContain(says);
    expect(await refs()).toEqual(before);
  });
});

test.each([
  [
    "a commit",
    "POST",
    "/commits",
    { branch: "later-deny", message: "m", author: ADA, operations: [{ op: "put", path: "n", content: "x" }] },
  ],
  ["a merge", "POST", "/merge", { base: "later-deny", head: "main", author: ADA }],
  ["a fast-forward", "POST", "/merge", { base: "later-deny", head: "main", author: ADA, fastForward: "only" }],
  ["a picked commit", "POST", "/cherry-pick", { branch: "later-deny", commit: "main~1", committer: ADA }],
  ["a reverted commit", "POST", "/revert", { branch: "later-deny", commit: "later-deny", author: ADA }],
  ["a moved branch", "PATCH", "/branches/later-deny", { target: "main" }],
  ["a deleted branch", "DELETE", "/branches/later-deny", undefined],
  ["a deleted ref", "DELETE", "/refs/heads/later-deny", undefined],
])("a branch that may not move any more is stopped for %s", async (_, method, path, json) => {
  await push("HEAD~2:refs/heads/later-deny");
  const before = (await readRefs(url)).get("refs/heads/later-deny");
  const { status, body } = await api(method, path, json);
  expect([status, body.error?.message]).toEqual([403, expect.stringContaining("policy: not refs/heads/later-deny")]);
  expect((await readRefs(url)).get("refs/heads/later-deny")).toBe(before);
});

test("commits that share a transaction, and a merge, pass a policy that allows them", async () => {
  const on = (branch: string, i: number) =>
    api("POST", "/commits", {
      branch,
      message: "m",
      author: ADA,
      operations: [{ op: "put", path: `shared-${i}`, content: "x" }],
    });
  const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => on("main", i)));
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
  const merged = await api("POST", "/merge", { base: "side", head: "main", author: ADA });
  expect(merged.status).toBe(200);
});

test("the example policy does what it says", async () => {
  const strict = await startServer({ vars: WITH_TOKENS, policy: join(PROJECT, "docs/examples/policy.mjs") });
  try {
    const make = { owner: "example", name: "writer", right: "write" };
    const made = await askApi<{ token: string }>(strict, "/tokens", { method: "POST", json: make, headers: OPERATOR });
    const own = `${strict.url.replace("://", `://git:${made.body.token}@`)}/example/repo`;
    const tell = async (...args: string[]) => (await tryGit(history, ["push", own, ...args])).stderr;
    expect(await tell("HEAD:refs/heads/main")).toContain("say which ticket it is for: git push -o ticket=NUMBER");
    expect(await tell("-o", "ticket=7", "HEAD:refs/heads/main")).toContain("[new branch]");
    expect(await tell("HEAD:refs/heads/Mine")).toContain(
      "name it feature/NAME, fix/NAME or release/NAME, in small letters",
    );
    expect(await tell("HEAD:refs/heads/release/1.0")).toContain("[new branch]");
    expect(await tell(":refs/heads/release/1.0")).toContain("releases are kept");
  } finally {
    await strict.close();
  }
});
