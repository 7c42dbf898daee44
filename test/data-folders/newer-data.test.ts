// A data folder that a newer release has written, opened by this one: each door says so, and
// nothing is changed.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SCHEMA_VERSION } from "../../src/object/store/sql/schema.ts";
import { git, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { type Contents, describeRepository } from "./contents.ts";

const persistDir = makeTempDir("newer");
let server: Server;
let source: string;
let contents: Contents;

beforeAll(async () => {
  server = await startServer({ persistDir });
  source = await makeHistory({ commits: 20, files: 5, branches: 1 });
  await git(source, "push", "-q", remote(), "main");
  contents = await describeRepository(remote());
  // From now on the owner has a log.
  expect((await ask("/api/owners/kept/events")).status).toBe(200);
});
afterAll(() => server.close());

const remote = (): string => `${server.url}/kept/repo.git`;

async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}${path}`, init);
  return { status: response.status, text: await response.text() };
}

/** The one database of a class of objects, while no server runs. */
function pathOf(className: string): string {
  const folder = join(persistDir, "do", `holdfast-${className}`);
  const [file] = readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  return join(folder, file!);
}

function run(path: string, statement: string): void {
  const database = new DatabaseSync(path);
  database.exec(`${statement}; PRAGMA wal_checkpoint(TRUNCATE)`);
  database.close();
}

const digestOf = (path: string): string => createHash("sha1").update(readFileSync(path)).digest("hex");

/** Runs `f` on a database of another version, and checks that it stays as it was.
 * @param setVersion a statement with `?` for the version */
async function withVersion(path: string, known: number, setVersion: string, f: () => Promise<void>): Promise<void> {
  await server.kill();
  run(path, setVersion.replace("?", "99"));
  const digest = digestOf(path);
  await server.restart();
  await f();
  await server.kill();
  // Whatever was written would be in the database after this.
  run(path, "");
  expect(digestOf(path)).toBe(digest);
  // The newer release is there again.
  run(path, setVersion.replace("?", String(known)));
  await server.restart();
  expect(await describeRepository(remote())).toEqual(contents);
}

/** Doors that lead to a repository: git, the API, a page. Each has the message. */
async function expectClosed(message: string): Promise<void> {
  for (const args of [
    ["fetch", remote(), "main"],
    ["push", remote(), "main:other"],
    ["ls-remote", remote()],
  ]) {
    const { code, stderr } = await tryGit(source, args);
    expect([code, stderr]).toEqual([128, expect.stringContaining(message)]);
  }
  const post = { method: "POST", body: "0000", headers: { "Content-Type": "application/x-git-receive-pack-request" } };
  expect(await ask("/kept/repo.git/git-receive-pack", post)).toEqual({ status: 503, text: `${message}\n` });
  const { status, text } = await ask("/api/repos/kept/repo/log");
  expect([status, JSON.parse(text)]).toEqual([503, { error: { code: "newer-data", message } }]);
  const page = await ask("/kept/repo", { headers: { Accept: "text/html" } });
  expect([page.status, page.text]).toEqual([503, expect.stringContaining(message)]);
}

const messageOf = (what: string, known: number): string =>
  `the ${what} was stored by a newer release (schema 99, and this one knows ${known}), and is left as it is: ` +
  "deploy the newer release again";

test("a repository", { tags: "sweep" }, () => {
  const path = pathOf("RepositoryObject");
  return withVersion(path, SCHEMA_VERSION, "UPDATE repository SET schema = ?", async () => {
    await expectClosed(messageOf("repository", SCHEMA_VERSION));
    // Others, and what the registry knows, are there.
    expect((await ask("/api/repos/kept")).text).toContain('"repo"');
    const { status, text } = await ask("/api/repos/kept/repo/forks", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name: "fork" }),
    });
    expect([status, text]).toEqual([503, expect.stringContaining(messageOf("repository", SCHEMA_VERSION))]);
  });
});

test("the registry", { tags: "sweep" }, () => {
  const path = pathOf("RegistryObject");
  return withVersion(path, 1, "UPDATE schema_version SET version = ?", async () => {
    await expectClosed(messageOf("registry", 1));
    expect(await ask("/healthz")).toEqual({ status: 503, text: expect.stringContaining(messageOf("registry", 1)) });
  });
});

test("the log of an owner, without which repositories go on", { tags: "sweep" }, () => {
  const path = pathOf("OwnerObject");
  return withVersion(path, 1, "UPDATE schema_version SET version = ?", async () => {
    const { status, text } = await ask("/api/owners/kept/events");
    expect([status, JSON.parse(text)]).toEqual([
      503,
      { error: { code: "newer-data", message: messageOf("log of the owner", 1) } },
    ]);
    await git(source, "fetch", "-q", remote(), "main");
  });
});
