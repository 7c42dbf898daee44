import { beforeAll, expect, test } from "vitest";
import { newClient } from "../../src/rest/client.ts";
import { git, makeRepository } from "../harness/git.ts";
import type { Server } from "../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../harness/shared-server.ts";

let server: Pick<Server, "url">;

beforeAll(async () => {
  server = await shareServer("client", WITH_TOKENS);
  const dir = await makeRepository("source");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  await git(dir, "push", "-q", `${server.url.replace("://", `://me:${ADMIN_TOKEN}@`)}/client/repo.git`, "main");
});

test("the client knows paths, and what comes back", async () => {
  const param = { owner: "client", repo: "repo" };
  const response = await newClient(server.url, { token: ADMIN_TOKEN }).repos[":owner"][":repo"].maintenance.$get({
    param,
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { commits } = await response.json();
  expect(commits).toBe(1);
  const refused = await newClient(server.url).repos[":owner"][":repo"].maintenance.$get({ param });
  expect(refused.status).toBe(401);
});
