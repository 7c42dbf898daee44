/** Imports and mirrors, from git's own server, from another Holdfast, and from servers that lie. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { git, listRefs, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type NativeServer, startNative } from "../harness/native.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { passOn, startUpstream, type Upstream } from "../harness/upstream.ts";

interface Import {
  readonly state: "running" | "waiting" | "done" | "failed";
  readonly error: string | null;
  readonly steps: number;
  readonly objects: number;
  readonly upstreamRefs: number;
  readonly syncedAt: string | null;
  readonly hasAuthorization: boolean;
}

const SECRETS_KEY = "a secret of the deployment, of which nobody knows";

const VARS = { ALLOW_PRIVATE_IMPORTS: "on", SECRETS_KEY };

let server: Server;
let root: string;
let native: NativeServer;
let history: string;

beforeAll(async () => {
  const limits = { maxPackObjects: 900, pruneGraceMs: 0 };
  server = await startServer({
    vars: { ...VARS, LIMITS: JSON.stringify(limits) },
    constants: { RETRY_MS: 20, PLAN_LIFE_MS: 0, BODY_WAIT_MS: 3_000 },
  });
  root = makeTempDir("served");
  native = await startNative(root);
  const made = await makeHistory({ commits: 120, files: 30, branches: 6, merges: 3, tags: 6, upheavals: 8 });
  history = join(root, "history.git");
  await cp(made, history, { recursive: true });
});
afterAll(async () => {
  await native.close();
  await server.close();
});

let names = 0;

/** An empty repository. */
async function newRepository(): Promise<string> {
  const name = `imported-${++names}`;
  const { status } = await askApi(server, "/repos", { method: "POST", json: { owner: "me", name } });
  expect(status).toBe(201);
  return `me/${name}`;
}

const begin = (name: string, json: Readonly<Record<string, unknown>>) =>
  askApi<Import & { error: { code: string; message: string } }>(server, `/repos/${name}/import`, {
    method: "POST",
    json,
  });

const read = async (name: string): Promise<Import> => (await askApi<Import>(server, `/repos/${name}/import`)).body;

/** Waits until an import has ended. */
async function settled(name: string): Promise<Import> {
  for (let looks = 0; looks < 600; looks++) {
    const found = await read(name);
    if (found.state !== "running") return found;
    await sleep(50);
  }
  throw new Error(`the import of ${name} has not ended: ${JSON.stringify(await read(name))}`);
}

async function importAll(url: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const name = await newRepository();
  expect(await begin(name, { url, ...more })).toMatchObject({ status: 202, body: { state: "running" } });
  expect(await settled(name)).toMatchObject({ state: "done", error: null });
  return name;
}

/** Expects a repository to be the same as a local one, and whole. */
async function expectSame(name: string, dir: string): Promise<void> {
  const clone = join(makeTempDir("clone"), "copy.git");
  await git(root, "clone", "-q", "--mirror", `${server.url}/${name}`, clone);
  await git(clone, "fsck", "--full", "--strict");
  expect(await listRefs(clone)).toBe(await listRefs(dir));
  expect(await git(clone, "symbolic-ref", "HEAD")).toBe(await git(dir, "symbolic-ref", "HEAD"));
  const list = async (repository: string): Promise<string[]> =>
    (await git(repository, "rev-list", "--objects", "--no-object-names", "--all")).split("\n").sort();
  expect(await list(clone)).toEqual(await list(dir));
  expect(await findProblems(`${server.url}/${name}`)).toEqual([]);
}

/** Expects that nothing is left of an import that failed. */
async function expectNothingLeft(name: string): Promise<void> {
  await askApi(server, `/repos/${name}/maintenance`, { method: "POST" });
  const { body } = await askApi<{ id: string }>(server, `/repos/${name}`);
  expect([...(await server.readObjects(body.id)).keys()]).toEqual([]);
  expect(await findProblems(`${server.url}/${name}`)).toEqual([]);
}

describe("a repository arrives whole", () => {
  test("from git's own server, in steps, as a pack may have fewer objects", async () => {
    const name = await importAll(`${native.url}/history.git`);
    const { steps, objects } = await read(name);
    expect(steps).toBeGreaterThan(1);
    expect(objects).toBe(Number((await git(history, "rev-list", "--objects", "--all")).split("\n").length));
    await expectSame(name, history);
  });

  test("from a server that speaks version 0 only", async () => {
    const upstream = await startUpstream((request, response) =>
      passOn(native.url, request, response, { "git-protocol": undefined }),
    );
    try {
      await expectSame(await importAll(`${upstream.url}/history.git`), history);
      expect(upstream.requests.length).toBeGreaterThan(3);
    } finally {
      await upstream.close();
    }
  });
});
