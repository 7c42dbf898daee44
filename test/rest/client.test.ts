import { afterAll, beforeAll, expect, test } from "vitest";
import { newClient } from "../../src/rest/client.ts";
import { git, makeRepository } from "../harness/git.ts";
import { type Server, startServer } from "../harness/server.ts";

const TOKEN = "correct-horse-battery";
let server: Server;

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: TOKEN } });
  const dir = await makeRepository("source");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  await git(dir, "push", "-q", `${server.url.replace("://", `://me:${TOKEN}@`)}/me/repo.git`, "main");
});

afterAll(() => server.close());

test("the client knows paths, and what comes back", async () => {
  const param = { owner: "me", repo: "repo" };
  const response = await newClient(server.url, { token: TOKEN }).repos[":owner"][":repo"].maintenance.$get({ param });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { commits } = await response.json();
  expect(commits).toBe(1);
  const refused = await newClient(server.url).repos[":owner"][":repo"].maintenance.$get({ param });
  expect(refused.status).toBe(401);
});
