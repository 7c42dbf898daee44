/** `git push holdfast::…` of a history that may be one step: it is packed once, as git does, and
 * indexed while its parts are sent. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProblems } from "../harness/find-problems.ts";
import { type FrontProxy, startFrontProxy } from "../harness/front-proxy.ts";
import { git, listRefs, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { Random } from "../harness/random.ts";
import { tryHelper } from "../harness/remote-helper.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** How long the server waits for a part. The helper waits longer before it sends one again. */
const WAIT_MS = 200;

const STEPS = /\/steps$/;
const PARTS = /\/parts\/(\d+)/;

let server: Server;
let proxy: FrontProxy;
/** With a pack of some 8 MB. */
let history: string;

beforeAll(async () => {
  server = await startServer({ constants: { BODY_WAIT_MS: WAIT_MS } });
  proxy = await startFrontProxy(server.url);
  history = await makeHistory({ commits: 30, files: 10, branches: 3, tags: 3 });
  const write = async (args: readonly string[], stdin: string | Uint8Array): Promise<string> =>
    (await tryGit(history, args, { stdin })).stdout.trim();
  const blob = await write(["hash-object", "-w", "--stdin"], new Random(11).bytes(8_000_000));
  const tree = await write(["mktree"], `100644 blob ${blob}\tnoise\n`);
  await git(history, "update-ref", "refs/heads/main", await write(["commit-tree", "-p", "main", tree], "noise"));
});
afterAll(async () => {
  await proxy.close();
  await server.close();
});

/** Pushes everything through the proxy.
 * @returns the requests that did it, in order */
async function push(name: string): Promise<FrontProxy["requests"]> {
  const from = proxy.requests.length;
  const { code, stderr } = await tryHelper(history, ["push", "--mirror", `holdfast::${proxy.url}/me/${name}`], {
    plainObjects: 1,
  });
  expect(code, stderr).toBe(0);
  const clone = join(makeTempDir("clone"), "copy.git");
  await git(history, "clone", "-q", "--mirror", `${server.url}/me/${name}`, clone);
  expect(await listRefs(clone)).toBe(await listRefs(history));
  await git(clone, "fsck", "--full", "--strict");
  const list = (dir: string): Promise<string> => git(dir, "rev-list", "--objects", "--no-object-names", "--all");
  expect((await list(clone)).split("\n").sort()).toEqual((await list(history)).split("\n").sort());
  expect(await findProblems(`${server.url}/me/${name}`)).toEqual([]);
  return proxy.requests.slice(from);
}

test("all of it is one step, which begins once the first part is there", async () => {
  const requests = await push("whole");
  const order = requests.filter(({ path }) => STEPS.test(path) || PARTS.test(path));
  const steps = order.filter(({ path }) => STEPS.test(path));
  expect(steps.map(({ status }) => status)).toEqual([200]);
  expect(order.filter(({ path }) => PARTS.test(path)).map(({ path }) => Number(PARTS.exec(path)![1]))).toEqual([
    1, 2, 3, 4,
  ]);
});

test("a step whose parts come too late is indexed once they are there", async () => {
  const cut = new Set<string>();
  // A part that is cut is sent again after half a second.
  proxy.cutAt = ({ path }) => PARTS.exec(path)?.[1] === "3" && cut.size < 1 && cut.add(path).size > 0;
  const requests = await push("late");
  expect(cut.size).toBe(1);
  const steps = requests.filter(({ path }) => STEPS.test(path));
  expect(steps.map(({ status }) => status)).toEqual([408, 200]);
});

test("a history that the server refuses as too large comes in smaller steps", { tags: "sweep" }, async () => {
  const strict = await startServer({ vars: { LIMITS: JSON.stringify({ maxPackReferences: 300 }) } });
  try {
    const remote = `holdfast::${strict.url}/me/smaller`;
    const { code, stderr } = await tryHelper(history, ["push", "--mirror", remote], { plainObjects: 1 });
    expect(code, stderr).toBe(0);
    const clone = join(makeTempDir("clone"), "copy.git");
    await git(history, "clone", "-q", "--mirror", `${strict.url}/me/smaller`, clone);
    expect(await listRefs(clone)).toBe(await listRefs(history));
    await git(clone, "fsck", "--full", "--strict");
    expect(strict.requests.filter(({ path }) => STEPS.test(path)).length).toBeGreaterThan(2);
  } finally {
    await strict.close();
  }
});

test("what a first push brings of a larger repository is a plain request, if it is small", async () => {
  const from = proxy.requests.length;
  const { code, stderr } = await tryHelper(
    history,
    ["push", `holdfast::${proxy.url}/me/small`, "main~20:refs/heads/main"],
    { plainObjects: 150 },
  );
  expect(code, stderr).toBe(0);
  expect(proxy.requests.slice(from).some(({ path }) => path.startsWith("/api/"))).toBe(false);
});
