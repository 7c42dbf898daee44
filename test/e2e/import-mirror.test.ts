/** Repositories that follow an upstream. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { changeRefs } from "../harness/change-refs.ts";
import { git, tryGit } from "../harness/git.ts";
import { type Import, ImportBench } from "../harness/import-bench.ts";
import { Random } from "../harness/random.ts";
import { passOn, startUpstream } from "../harness/upstream.ts";

let bench: ImportBench;
beforeAll(async () => {
  bench = await ImportBench.open();
});
afterAll(() => bench.close());

/** A mirror of a copy of the history.
 * @returns its name, and the copy */
async function follow(copy: string): Promise<{ name: string; dir: string }> {
  const dir = join(bench.root, copy);
  await git(bench.root, "clone", "-q", "--bare", bench.history, dir);
  const name = await bench.newRepository();
  await bench.begin(name, { url: `${bench.native.url}/${copy}`, mirror: true });
  expect(await bench.settled(name)).toMatchObject({ state: "waiting", error: null });
  return { name, dir };
}

async function expectFollowed(count: number): Promise<void> {
  const { name, dir } = await follow(`followed-${count}.git`);
  await bench.expectSame(name, dir);
  const random = new Random(18);
  const list = (url: string) => git(bench.root, "ls-remote", "--symref", url, "HEAD", "refs/*");
  for (let changes = 0; changes < count;) {
    for (const end = changes + 1 + random.below(16); changes < end; changes++)
      await changeRefs(dir, random, `${changes}`);
    expect(await bench.sync(name)).toMatchObject({ error: null });
    expect(await list(`${bench.server.url}/${name}`), `after ${changes} changes`).toBe(await list(dir));
  }
  await bench.expectSame(name, dir);
}

test("follows 30 random changes exactly: refs that are new, forced, renamed and gone", { tags: "sweep" }, () =>
  expectFollowed(30),
);
test("follows 200, too", { tags: "sweep" }, () => expectFollowed(200));

test("takes no other changes until it is released, and keeps what it has", { tags: "sweep" }, async () => {
  const { name } = await follow("shown.git");
  const push = () => tryGit(bench.history, ["push", `${bench.server.url}/${name}`, "main:refs/heads/mine"]);
  const refused = await push();
  expect(refused.stderr).toMatch(/remote rejected.*this repository mirrors http.*DELETE its import to release it/);
  expect(refused.code).toBe(1);
  const main = await git(bench.history, "rev-parse", "main");
  const writes: [path: string, method: string, json: unknown][] = [
    ["refs/heads%2Fmine", "PUT", { target: main }],
    ["refs/heads%2Fside-1", "DELETE", undefined],
    ["branches", "POST", { name: "mine", startPoint: "main" }],
    ["tags", "POST", { name: "mine", target: "main" }],
    [
      "commits",
      "POST",
      {
        branch: "main",
        message: "m",
        author: { name: "A", email: "a@example.com" },
        operations: [{ op: "put", path: "a", content: "b" }],
      },
    ],
  ];
  for (const [path, method, json] of writes) {
    const { status, body } = await askApi<{ error: { message: string } }>(bench.server, `/repos/${name}/${path}`, {
      method,
      ...(json !== undefined && { json }),
    });
    expect([status, body.error.message], path).toEqual([403, expect.stringContaining("this repository mirrors")]);
  }
  // An upstream that is away for a while changes nothing.
  await git(bench.root, "--git-dir=shown.git", "config", "http.uploadpack", "false");
  expect((await bench.sync(name)).error).toContain("a valid credential");
  await bench.expectSame(name, bench.history);
  expect((await askApi(bench.server, `/repos/${name}/import`, { method: "DELETE" })).status).toBe(204);
  expect((await push()).code).toBe(0);
});

test("is changed without a new import, and released with what it has", { tags: "sweep" }, async () => {
  const { name, dir } = await follow("released.git");
  const { steps } = await bench.read(name);
  const changed = await bench.change(name, { interval: 7_200, authorization: "Bearer later" });
  expect(changed).toMatchObject({ status: 200, body: { interval: 7_200, hasAuthorization: true, steps } });
  const { nextAt } = changed.body;
  expect((Date.parse(nextAt!) - Date.now()) / 1_000).toBeGreaterThan(7_000);
  await bench.change(name, { interval: 60, authorization: null });
  const sooner = await bench.read(name);
  expect((Date.parse(sooner.nextAt!) - Date.now()) / 1_000).toBeLessThan(61);
  expect(sooner).toMatchObject({ mirror: true, hasAuthorization: false, state: "waiting" });
  await git(dir, "branch", "late", "main");
  await bench.sync(name);
  expect((await bench.change(name, { mirror: true })).status).toBe(422);
  const released = await bench.change(name, { mirror: false });
  expect(released.body).toMatchObject({ mirror: false, state: "done", nextAt: null, hasAuthorization: false });
  expect((await bench.change(name, { interval: 60 })).status).toBe(409);
  await bench.expectSame(name, dir);
  await git(bench.history, "push", "-q", `${bench.server.url}/${name}`, "main:refs/heads/mine");
  expect((await askApi(bench.server, `/repos/${name}/import/sync`, { method: "POST" })).status).toBe(409);
});

test("is released while it fetches, which ends that", { tags: "sweep" }, async () => {
  const { name, dir } = await follow("slow.git");
  const slow = await startUpstream((request, response) => void setTimeout(() => pass(request, response), 200));
  const pass: typeof slow.handle = (request, response) => passOn(bench.native.url, request, response);
  try {
    expect((await askApi(bench.server, `/repos/${name}/import`, { method: "DELETE" })).status).toBe(204);
    const url = `${slow.url}/slow.git`;
    const other = await bench.newRepository();
    await bench.begin(other, { url, mirror: true });
    while (slow.requests.length < 2) await sleep(10);
    expect((await bench.change(other, { mirror: false })).body).toMatchObject({ mirror: false, state: "done" });
    await sleep(1_500);
    expect(await bench.read(other)).toMatchObject({ mirror: false, state: "done", steps: 0 });
    await bench.expectNothingLeft(other);
    await git(dir, "push", "-q", `${bench.server.url}/${other}`, "main~100:refs/heads/mine");
  } finally {
    await slow.close();
  }
});

test("is streamed as it goes, until it is released", async () => {
  const name = await bench.newRepository();
  const url = `${bench.native.url}/history.git`;
  const stream = async () => {
    const headers = { Accept: "text/event-stream" };
    const response = await fetch(`${bench.server.url}/api/repos/${name}/import`, { headers });
    return { status: response.status, type: response.headers.get("Content-Type"), body: response.body! };
  };
  expect((await stream()).status).toBe(404);
  await bench.begin(name, { url, mirror: true });
  const { type, body } = await stream();
  expect(type).toBe("text/event-stream");
  const told = readImports(body);
  const first = await told.next();
  expect(first.value).toMatchObject({ url, mirror: true });
  let last = first.value!;
  while (last.state !== "waiting") last = (await told.next()).value!;
  const { steps } = last;
  expect(steps).toBeGreaterThan(1);
  // What happens later comes by itself, and nothing comes twice.
  await bench.change(name, { interval: 120 });
  const changed = (await told.next()).value!;
  expect(changed).toEqual({ ...last, interval: 120, nextAt: changed.nextAt });
  await bench.change(name, { mirror: false });
  expect((await told.next()).value).toMatchObject({ mirror: false, state: "done" });
  expect((await told.next()).done).toBe(true);
  // One that has ended is told once.
  const again = await Array.fromAsync(readImports((await stream()).body));
  expect(again).toEqual([expect.objectContaining({ state: "done", steps })]);
});

async function* readImports(body: ReadableStream<Uint8Array>): AsyncGenerator<Import, undefined, void> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      if (block.startsWith(":")) continue;
      const [event, data] = block.split("\n");
      expect(event).toBe("event: import");
      yield JSON.parse(data!.slice("data: ".length)) as Import;
    }
  }
  return undefined;
}
