import { afterAll, beforeAll, expect, test } from "vitest";
import { type Server, startServer } from "../../harness/server.ts";

let server: Server;
beforeAll(async () => {
  // With this value, every repository's object and much of the Worker throws an unexpected error.
  server = await startServer({ vars: { LIMITS: '{"maxWants":"nonsense"}' } });
});
afterAll(() => server.close());

/** A browser's headers, for which the runtime would make an HTML page. */
const BROWSER = { Accept: "text/html,*/*", "User-Agent": "Mozilla/5.0" };

test.each([
  ["GET", "/api/repos/me/repo", "application/json"],
  ["GET", "/api/repos/me/repo/log", "application/json"],
  ["GET", "/me/repo.git/info/refs?service=git-upload-pack", "text/plain"],
  ["GET", "/me/repo.git/info/refs?service=git-receive-pack", "text/plain"],
  ["POST", "/me/repo.git/git-upload-pack", "text/plain"],
  ["POST", "/me/repo.git/git-receive-pack", "text/plain"],
])("what breaks in the server is no page and no stack: %s %s", async (method, path, type) => {
  const service = /git-\w+-pack$/.exec(path)?.[0];
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { ...BROWSER, ...(method === "POST" && { "Content-Type": `application/x-${service}-request` }) },
    ...(method === "POST" && { body: "0000" }),
  });
  const text = await response.text();
  expect(response.status, text).toBeGreaterThanOrEqual(400);
  expect(response.headers.get("Content-Type")).toMatch(type);
  expect(text).not.toMatch(/<html|\n\s+at |\.js:\d+|nonsense/i);
});
