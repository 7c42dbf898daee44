/** `git push holdfast::…` of a history that may be one step: it is packed once, as git does, and
 * sent while it is made, the beginning in one body and the rest in parts. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findProblems } from "../harness/find-problems.ts";
import { type FrontProxy, startFrontProxy } from "../harness/front-proxy.ts";
import { git, listRefs, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { Random } from "../harness/random.ts";
import { tryHelper } from "../harness/remote-helper.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** How long a server waits for a part that comes late. The helper waits longer before it sends one
 * again. */
const WAIT_MS = 200;

/** Of a body, and of a part. */
const SMALL_BYTES = 4_000_000;

const STEPS = /\/(steps|packs)(\?|$)/;
const PARTS = /\/parts\/(\d+)/;

let server: Server;
let proxy: FrontProxy;
/** With a pack of some 8 MB. */
let history: string;

beforeAll(async () => {
  server = await startServer();
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

/** Pushes everything through a proxy.
 * @returns the requests that did it, in order */
async function push(name: string, to = server, front = proxy): Promise<FrontProxy["requests"]> {
  const from = front.requests.length;
  const { code, stderr } = await tryHelper(history, ["push", "--mirror", `holdfast::${front.url}/me/${name}`], {
    plainObjects: 1,
  });
  expect(code, stderr).toBe(0);
  const clone = join(makeTempDir("clone"), "copy.git");
  await git(history, "clone", "-q", "--mirror", `${to.url}/me/${name}`, clone);
  expect(await listRefs(clone)).toBe(await listRefs(history));
  await git(clone, "fsck", "--full", "--strict");
  const list = (dir: string): Promise<string> => git(dir, "rev-list", "--objects", "--no-object-names", "--all");
  expect((await list(clone)).split("\n").sort()).toEqual((await list(history)).split("\n").sort());
  expect(await findProblems(`${to.url}/me/${name}`)).toEqual([]);
  return front.requests.slice(from);
}

const stepsOf = (requests: FrontProxy["requests"]): string[] =>
  requests.flatMap(({ path, status }) => {
    const [, kind] = STEPS.exec(path) ?? [];
    return kind === undefined ? [] : [`${kind} ${status}`];
  });

const partsOf = (requests: FrontProxy["requests"]): number[] =>
  requests.flatMap(({ path }) => (PARTS.test(path) ? [Number(PARTS.exec(path)![1])] : [])).toSorted((a, b) => a - b);

test("all of it is one step, in one body", async () => {
  const requests = await push("whole");
  expect(stepsOf(requests)).toEqual(["packs 200"]);
  expect(partsOf(requests)).toEqual([]);
});

describe("where a body may have 4 MB", () => {
  /** Pushes through a server of that limit and a front that ends larger bodies. */
  async function pushThere(
    name: string,
    constants: Record<string, number> = {},
    cutAt: FrontProxy["cutAt"] = () => false,
  ): Promise<FrontProxy["requests"]> {
    const small = await startServer({ vars: { LIMITS: JSON.stringify({ maxPartBytes: SMALL_BYTES }) }, constants });
    const front = await startFrontProxy(small.url, SMALL_BYTES);
    front.cutAt = cutAt;
    try {
      return await push(name, small, front);
    } finally {
      await front.close();
      await small.close();
    }
  }

  // Parts of 1 and 2 MiB are in the body, others of up to 4 MB behind it.
  test("the rest goes in parts", async () => {
    const requests = await pushThere("behind");
    expect(stepsOf(requests)).toEqual(["packs 200"]);
    expect(partsOf(requests)).toEqual([3, 4]);
  });

  test("a part that comes too late has all of it sent in parts", async () => {
    let cuts = 0;
    // The helper sends a cut part again. None passes before the server has given up waiting.
    const requests = await pushThere("late", { BODY_WAIT_MS: WAIT_MS }, ({ path }, passed) => {
      const isCut = PARTS.exec(path)?.[1] === "3" && stepsOf(passed).at(-1) === "packs null";
      if (isCut) cuts++;
      return isCut;
    });
    expect(cuts).toBeGreaterThan(0);
    expect(stepsOf(requests)).toEqual(["packs 408", "steps 200"]);
    expect(new Set(partsOf(requests))).toEqual(new Set([1, 2, 3, 4]));
  });
});

test("a body that is cut goes again in parts", async () => {
  let cuts = 0;
  proxy.cutAt = ({ path }) => path.includes("/packs?") && ++cuts === 1;
  const requests = await push("cut");
  expect(cuts).toBe(1);
  expect(stepsOf(requests).at(-1)).toBe("steps 200");
  expect(partsOf(requests)).toEqual([1, 2, 3, 4]);
});

test("a step whose answer is lost is not sent again", async () => {
  proxy.cutAnswer = ({ path }) => path.includes("/packs?");
  try {
    const requests = await push("unanswered");
    expect(partsOf(requests)).toEqual([]);
    expect(requests.some(({ path }) => path.endsWith("/steps"))).toBe(false);
  } finally {
    proxy.cutAnswer = () => false;
  }
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
