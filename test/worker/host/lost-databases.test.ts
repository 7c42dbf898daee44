/** Databases that are lost or cut between two runs of the server. */
import { readdirSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

/** The database files of a class of objects. */
function databasesOf(folder: string, name: "RegistryObject" | "RepositoryObject"): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const found = files.filter((file) => file.includes(name) && /\/[0-9a-f]{64}\.sqlite/.test(file));
  return found.map((file) => join(folder, file));
}

/** A data folder with one repository, whose files are in the bucket. */
async function makeData(): Promise<{ data: string; history: string }> {
  const data = makeTempDir("data");
  const history = await makeHistory({ commits: 3, files: 2 });
  const server = await startServer({ persistDir: data });
  await git(history, "push", "-q", `${server.url}/me/lost.git`, "main");
  await askApi(server, "/repos/me/lost/maintenance", { method: "POST" });
  await server.close();
  return { data, history };
}

async function healthOf(server: Server): Promise<{ status: number; body: Record<string, string | null> }> {
  const response = await fetch(`${server.url}/healthz`);
  return { status: response.status, body: await response.json() };
}

const LOST = /database is lost or damaged: the registry knows me\/lost/;

test("a repository whose database is lost is told as lost, and nothing is pushed over it", async () => {
  const { data, history } = await makeData();
  for (const file of databasesOf(data, "RepositoryObject")) rmSync(file);
  const server = await startServer({ persistDir: data });
  try {
    const log = await askApi<{ error: { code: string; message: string } }>(server, "/repos/me/lost/log");
    expect([log.status, log.body.error.code]).toEqual([503, "damaged-data"]);
    expect(log.body.error.message).toMatch(LOST);
    expect((await tryGit(history, ["ls-remote", `${server.url}/me/lost.git`])).stderr).toMatch(LOST);
    const pushed = await tryGit(history, ["push", `${server.url}/me/lost.git`, "main:refs/heads/new"]);
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toMatch(LOST);
    const health = await healthOf(server);
    expect(health.status).toBe(503);
    expect(health.body).toMatchObject({
      status: "failing",
      repositories: expect.stringContaining("1 lost or damaged"),
    });
    // The log names repository, route and request.
    const { id } = (await askApi<{ id: string }>(server, "/repos/me/lost")).body;
    const errors = (): unknown[] => server.takeEvents().filter(({ event }) => (event as string) === "error");
    await expect.poll(errors).toContainEqual(
      expect.objectContaining({
        path: "/api/repos/me/lost/log",
        method: "GET",
        request: log.headers.get("X-Request-Id"),
        repository: id,
        error: expect.stringMatching(LOST),
      }),
    );
    // Other names, and what was deleted, are missing as before.
    expect((await askApi(server, "/repos/me/other/log")).status).toBe(404);
    expect((await askApi(server, "/repos/me/lost", { method: "DELETE" })).status).toBe(204);
    expect((await askApi(server, "/repos/me/lost/log")).status).toBe(404);
    await git(history, "push", "-q", `${server.url}/me/lost.git`, "main");
  } finally {
    await server.close();
  }
});

test("a repository whose database is cut is told as one that does not open", async () => {
  const { data } = await makeData();
  for (const file of databasesOf(data, "RepositoryObject")) {
    if (!file.endsWith(".sqlite")) continue;
    const database = new DatabaseSync(file);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    truncateSync(file, 40_000);
  }
  const server = await startServer({ persistDir: data });
  try {
    const log = await askApi<{ error: { message: string } }>(server, "/repos/me/lost/log");
    expect(log.status).toBe(503);
    expect(log.body.error.message).toMatch(
      /the database is unavailable .* the disk is full, or the database is damaged|lost or damaged: it cannot be read/,
    );
    expect((await healthOf(server)).body["repositories"]).toContain("1 lost or damaged");
  } finally {
    await server.close();
  }
});

test("a registry that is lost does not look like a new one", async () => {
  const { data, history } = await makeData();
  for (const file of databasesOf(data, "RegistryObject")) rmSync(file);
  const server = await startServer({ persistDir: data });
  try {
    const { status, body } = await healthOf(server);
    expect(status).toBe(503);
    expect(body["registry"]).toMatch(/the registry's database is lost or damaged: it is empty, and the bucket has /);
    const log = await askApi<{ error: { message: string } }>(server, "/repos/me/lost/log");
    expect([log.status, log.body.error.message]).toEqual([503, expect.stringContaining("registry's database is lost")]);
    const pushed = await tryGit(history, ["push", `${server.url}/me/lost.git`, "main"]);
    expect(pushed.stderr).toContain("registry's database is lost");
  } finally {
    await server.close();
  }
});
