/** A policy is asked before refs change, by whatever door: git, the API, uploads. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { PROJECT } from "../harness/build.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { startNative } from "../harness/native.ts";
import { Random } from "../harness/random.ts";
import { readRefs } from "../harness/raw-push.ts";
import { type Server, startServer } from "../harness/server.ts";
import { ADMIN_TOKEN, WITH_TOKENS } from "../harness/shared-server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { testSome } from "../harness/sweep.ts";

const ADA = { name: "Ada Example", email: "ada@example.com" };
const NAME = "policed/repo";
const OPERATOR = { Authorization: `Bearer ${ADMIN_TOKEN}` };

let server: Server;
let history: string;
let url: string;

beforeAll(async () => {
  server = await startServer({
    vars: { ...WITH_TOKENS, ALLOW_PRIVATE_IMPORTS: "on" },
    policy: join(PROJECT, "test/harness/policy-worker.mjs"),
    constants: { POLICY_MS: 500 },
  });
  history = await makeHistory({ commits: 6, files: 3 });
  url = `${server.url.replace("://", `://git:${ADMIN_TOKEN}@`)}/${NAME}`;
  await git(history, "push", "-q", url, "HEAD:refs/heads/main", "HEAD~2:refs/heads/side", "HEAD:refs/tags/v1");
});
afterAll(() => server.close());

const splitName = (name: string) => ({ owner: name.split("/")[0], name: name.split("/")[1] });
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

const commitOf = (branch: string) => ({
  branch,
  message: "m",
  author: ADA,
  operations: [{ op: "put", path: "new", content: "x" }],
});

/** Asks the API for a change that the policy stops, and checks that nothing has moved. */
async function isStopped(how: string, method: string, path: string, json: unknown): Promise<void> {
  const before = await readRefs(url);
  const { status, body } = await api(method, path, json);
  expect([status, body.error?.message]).toEqual([
    how === "deny" ? 403 : 503,
    expect.stringContaining(SAYS[how]!.replace("/heads/", "/")),
  ]);
  expect(await readRefs(url)).toEqual(before);
}

describe.each([
  ["names", ""],
  ["commits", "shown-"],
])("asked by %s", (_, stage) => {
  describe.each(Object.keys(SAYS))("a policy that may %s", (how) => {
    const says = SAYS[how]!;
    const word = `${stage}${how}`;
    // At each door one that denies by names is asked, at two of them one that denies by commits,
    // and at one of them those that fail when they are asked by names.
    const everyDoor = { tags: word === "deny" ? [] : ["sweep"] };
    const oneDoor = { tags: how === "deny" || stage === "" ? [] : ["sweep"] };
    const twoDoors = { tags: how === "deny" ? [] : ["sweep"] };

    test("stops a push by git, whose user reads why", oneDoor, async () => {
      const before = await refs();
      const { code, stderr } = await push(`HEAD:refs/heads/${word}-git`);
      expect(code).not.toBe(0);
      expect(stderr).toContain(says);
      expect(await refs()).toEqual(before);
    });

    test("stops an atomic push as a whole, and of another what it denies", twoDoors, async () => {
      const before = await refs();
      const commit = await git(history, "commit-tree", "-p", "HEAD", "-m", word, "HEAD^{tree}");
      const both = [`${commit}:refs/heads/${word}-one`, `${commit}:refs/heads/beside-${word.length}`];
      const atomic = await push("--atomic", ...both);
      expect(atomic.code).not.toBe(0);
      expect(await refs()).toEqual(before);
      const some = await push(...both);
      expect(some.stderr).toContain(says);
      const allowed = how === "deny" ? [`refs/heads/beside-${word.length}`] : [];
      expect(await refs()).toEqual([...before, ...allowed].toSorted());
    });

    test.each([
      ["a commit", "POST", "/commits", { startPoint: "main", ...commitOf(`${word}-new`) }],
      ["a new branch", "POST", "/branches", { name: `${word}-new`, startPoint: "main" }],
      ["a renamed branch", "PATCH", "/branches/side", { newName: `${word}-side` }],
      ["a new tag", "POST", "/tags", { name: `${word}-tag`, target: "main" }],
      ["a new ref", "PUT", `/refs/heads/${word}-ref`, { target: "main" }],
    ])("stops %s", everyDoor, (_, method, path, json) => isStopped(how, method, path, json));

    test("stops an upload", everyDoor, async () => {
      const before = await refs();
      const main = (await readRefs(url)).get("refs/heads/main")!;
      const { id } = (await api("POST", "/uploads", {})).body as { id: string };
      const ref = { name: `refs/heads/${word}-up`, old: null, new: main };
      const ended = await api("POST", `/uploads/${id}/complete`, { refs: [ref] });
      expect(JSON.stringify(ended.body)).toContain(says);
      expect(await refs()).toEqual(before);
    });

    test("stops a restored backup", everyDoor, async () => {
      const name = `policed/restored-${word}`;
      await askApi(server, "/repos", { method: "POST", json: splitName(name), headers: OPERATOR });
      await git(history, "update-ref", `refs/heads/${word}-kept`, "HEAD");
      const { stdoutBytes } = await tryGit(history, ["bundle", "create", "-q", "-", `refs/heads/${word}-kept`]);
      const headers = { ...OPERATOR, "Content-Type": "application/x-git-bundle" };
      const init = { method: "PUT", body: new Uint8Array(stdoutBytes), headers };
      const { status, body } = await askApi(server, `/repos/${name}/backup.bundle`, init);
      expect([status, JSON.stringify(body)]).toEqual([how === "deny" ? 403 : 503, expect.stringContaining(says)]);
      expect([...(await readRefs(url.replace(NAME, name))).keys()]).toEqual([]);
    });

    const branch = `later-${word}`;
    test.each([
      ["a commit", "POST", "/commits", commitOf(branch)],
      ["a merge", "POST", "/merge", { base: branch, head: "main", author: ADA, fastForward: "never" }],
      ["a fast-forward", "POST", "/merge", { base: branch, head: "main", author: ADA, fastForward: "only" }],
      ["a picked commit", "POST", "/cherry-pick", { branch, commit: "main~1", committer: ADA }],
      ["a reverted commit", "POST", "/revert", { branch, commit: branch, author: ADA }],
      ["a moved branch", "PATCH", `/branches/${branch}`, { target: "main" }],
      ["a branch renamed away", "PATCH", `/branches/${branch}`, { newName: `away-${branch.length}` }],
      ["a deleted branch", "DELETE", `/branches/${branch}`, undefined],
      ["a deleted ref", "DELETE", `/refs/heads/${branch}`, undefined],
    ])("that let a branch be made, stops %s", everyDoor, async (_, method, path, json) => {
      await push(`HEAD~2:refs/heads/${branch}`);
      await isStopped(how, method, path, json);
    });
  });
});

testSome(1, ["gone", "deny", "shown-deny", "shown-gone"], "an import stops at a policy that may %s", async (word) => {
  const root = makeTempDir("imported");
  await git(root, "clone", "-q", "--bare", history, join(root, "from.git"));
  await git(join(root, "from.git"), "branch", "-q", `${word}-imported`, "main");
  const native = await startNative(root);
  try {
    const name = `policed/imported-${word}`;
    await askApi(server, "/repos", { method: "POST", json: splitName(name), headers: OPERATOR });
    const ask = (method: string, json?: unknown) =>
      askApi<{ state: string; error: string | null }>(server, `/repos/${name}/import`, {
        method,
        json,
        headers: OPERATOR,
      });
    await ask("POST", { url: `${native.url}/from.git` });
    let found = await ask("GET");
    while (found.body.state !== "failed" && found.body.error === null) {
      await sleep(50);
      found = await ask("GET");
    }
    expect(found.body.error).toContain("policy");
    expect([...(await readRefs(url.replace(NAME, name))).keys()].filter((ref) => ref.includes(word))).toEqual([]);
  } finally {
    await native.close();
  }
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

describe("the example policy", { tags: "sweep" }, () => {
  let strict: Server;
  let dir: string;
  beforeAll(async () => {
    strict = await startServer({ vars: WITH_TOKENS, policy: join(PROJECT, "docs/examples/policy.mjs") });
    dir = await makeRepository("policed");
    await commit("chore: begin");
  });
  afterAll(() => strict.close());

  const commit = (message: string, ...args: string[]) =>
    git(dir, "commit", "-q", "--allow-empty", "--signoff", "-m", message, ...args);
  const tell = async (...args: string[]): Promise<string> => {
    const { stderr } = await tryGit(dir, [
      "push",
      `${strict.url.replace("://", `://git:${ADMIN_TOKEN}@`)}/me/example`,
      ...args,
    ]);
    return stderr;
  };

  test("looks at names", async () => {
    expect(await tell("HEAD:refs/heads/main")).toContain("[new branch]");
    expect(await tell("HEAD:refs/heads/Mine")).toContain("name it feature/NAME, fix/NAME or release/NAME");
    expect(await tell("HEAD:refs/heads/release/1.0")).toContain("[new branch]");
    expect(await tell(":refs/heads/release/1.0")).toContain("releases are kept");
  });

  test.each([
    ["a message of another form", () => commit("Mend it"), "begin the message as Conventional Commits do"],
    ["no sign-off", () => git(dir, "commit", "-q", "--allow-empty", "-m", "fix: it"), "sign it off"],
    ["the sign-off of another", () => commit("fix: it", "--author=Eve <eve@example.com>"), "sign it off"],
    [
      "a large file, though it is gone again",
      async () => {
        writeFileSync(join(dir, "large"), new Random(1).bytes(5_000_001));
        await git(dir, "add", "large");
        await commit("feat: large");
        await git(dir, "rm", "-q", "large");
        await commit("feat: small");
      },
      "large is above 5 MB; use Git LFS",
    ],
  ])("looks for %s", async (_, make, says) => {
    await git(dir, "checkout", "-q", "--detach", "HEAD");
    const before = await git(dir, "rev-parse", "HEAD");
    await make();
    await commit("docs: after it");
    expect(await tell("HEAD:refs/heads/main")).toMatch(
      new RegExp(`! \\[remote rejected\\] HEAD -> main \\(policy: [0-9a-f]{7}: .*${says}`),
    );
    await git(dir, "reset", "-q", "--hard", before);
    await commit("fix(core)!: as it should be");
    expect(await tell("HEAD:refs/heads/main")).toMatch(/[0-9a-f]{7}\.\.[0-9a-f]{7} +HEAD -> main/);
  });
});
