import { beforeAll, expect, test } from "vitest";
import { newClient } from "../../../src/worker/rest/client.ts";
import { git, makeRepository } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../../harness/shared-server.ts";

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

test("the client takes names as they are, whatever their characters", async () => {
  const { branches, tags, commits } = newClient(server.url, { token: ADMIN_TOKEN }).repos[":owner"][":repo"];
  const repository = { owner: "client", repo: "repo" };
  const json = { target: "main" };
  for (const name of ["task/1", "a", "a#b", "100%", "a%2Fb", "a&b=c", "grün/für+alle"]) {
    const param = { ...repository, name };
    expect((await branches.$post({ param: repository, json: { name, startPoint: "main" } })).status).toBe(201);
    expect(await (await branches[":name"].$get({ param })).json()).toMatchObject({ name });
    expect((await branches[":name"].$patch({ param, json })).status).toBe(200);
    expect((await commits[":ref"].$get({ param: { ...repository, ref: name }, query: {} })).status).toBe(200);
    expect((await tags.$post({ param: repository, json: { name, target: "main" } })).status).toBe(201);
    expect(await (await tags[":name"].$get({ param, query: {} })).json()).toMatchObject({ name });
  }
  const names = async () => (await (await branches.$get({ param: repository, query: {} })).json()) as object;
  const { status } = await branches[":name"].$delete({ param: { ...repository, name: "a#b" }, query: {} });
  expect(status).toBe(204);
  const left = JSON.stringify(await names());
  expect(left).toContain('"a"');
  expect(left).not.toContain('"a#b"');
});
