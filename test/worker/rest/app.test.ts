import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { request } from "../../harness/raw.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer, WITH_TOKENS } from "../../harness/shared-server.ts";

let server: Pick<Server, "url">;

beforeAll(async () => {
  server = await shareServer("app");
  const dir = await makeRepository("source");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  await git(dir, "push", "-q", `${server.url}/app/repo.git`, "main");
});

test("GET tells, POST runs all or some of the jobs", async () => {
  const status = { commits: 1, refs: 1, chunks: { hot: 1, unmerged: 1 } };
  expect(await askApi(server, "/repos/app/repo/maintenance")).toMatchObject({ status: 200, body: status });
  const post = (query: string) => askApi(server, `/repos/app/repo/maintenance${query}`, { method: "POST" });
  expect(await post("?kind=prune&kind=repack")).toMatchObject({
    status: 200,
    body: {
      chunks: { unmerged: 0 },
      lastRuns: { repack: { chunks: 1, began: expect.stringMatching(/^\d{4}-.*Z$/) }, prune: expect.anything() },
    },
  });
  expect((await post("")).body).toMatchObject({ lastRuns: { seal: expect.anything(), compact: expect.anything() } });
});

test("what cannot be done is said in JSON", async () => {
  const error = (code: string, field = {}) => ({ error: { code, message: expect.any(String), ...field } });
  expect(await askApi(server, "/repos/app/other/maintenance")).toMatchObject({ status: 404, body: error("not-found") });
  expect(await askApi(server, "/repos/app/.git/maintenance")).toMatchObject({ status: 404, body: error("not-found") });
  expect(await askApi(server, "/nothing")).toMatchObject({ status: 404, body: error("not-found") });
  const wrong = await askApi(server, "/repos/app/repo/maintenance?kind=sweep", { method: "POST" });
  expect(wrong).toMatchObject({ status: 422, body: error("invalid", { field: "kind" }) });
});

test("bodies are JSON, and bounded before they are parsed", async () => {
  const post = (body: BodyInit, type = "application/json") =>
    askApi(server, "/repos/app/repo/maintenance", { method: "POST", body, headers: { "Content-Type": type } });
  expect(await post("{}", "text/plain")).toMatchObject({ status: 415 });
  expect(await post("[".repeat(10_000))).toMatchObject({ status: 400, body: { error: { code: "bad-request" } } });
  expect(await post(new Uint8Array([0x22, 0xff, 0x22]))).toMatchObject({ status: 400 });
  const refused = await request(`${server.url}/api/repos/app/repo/maintenance`, {
    headers: { "Content-Type": "application/json", "Content-Length": String(25 * 1024 * 1024) },
    body: [Buffer.from("[")],
  });
  expect(refused.status).toBe(413);
  const message = expect.stringMatching(/limit of 25165824 \(it is 26214400\): .*by a push, an upload or Git LFS/);
  expect(JSON.parse(refused.body.toString())).toMatchObject({ error: { code: "too-large", message } });
});

test("the document describes the routes", async () => {
  const { body } = await askApi<{ openapi: string; paths: object }>(server, "/openapi.json");
  expect(body.openapi).toBe("3.1.0");
  expect(body.paths).toHaveProperty("/repos/{owner}/{repo}/maintenance");
});

test("a path that other methods serve is 405", async () => {
  const answer = await askApi(server, "/repos/app/repo/maintenance", { method: "DELETE" });
  expect(answer).toMatchObject({ status: 405, body: { error: { code: "method-not-allowed" } } });
  expect(answer.headers.get("Allow")).toBe("HEAD, GET, POST");
  expect(await askApi(server, "/repos/app/repo/nothing", { method: "DELETE" })).toMatchObject({ status: 404 });
});

test("where a token is asked for, pages of any origin may use git and the API", async () => {
  const asking = await shareServer("asking", WITH_TOKENS);
  const preflight = {
    method: "OPTIONS",
    headers: { Origin: "https://example.com", "Access-Control-Request-Method": "PUT" },
  };
  for (const path of ["/app/repo/git-upload-pack", "/api/repos/app/repo/maintenance"]) {
    const response = await fetch(asking.url + path, preflight);
    expect(response.status).toBe(204);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(response.headers.get("Access-Control-Allow-Methods")).toContain("PUT");
  }
  const refs = await fetch(`${asking.url}/app/repo/info/refs?service=git-upload-pack`);
  expect(refs.headers.get("Access-Control-Allow-Origin")).toBe("*");
});
