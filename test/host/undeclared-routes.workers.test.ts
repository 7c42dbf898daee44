/** A route that forgot to say whom it is for: whatever the Worker serves asks for a token, but for what is listed here. */
import { createExecutionContext, env } from "cloudflare:test";
import { expect, test } from "vitest";
import worker from "../../src/host/worker.ts";

/** What everybody may ask. */
const OPEN = new Set(["/", "/healthz", "/api/docs", "/api/openapi.json", "/api/repos", "/api/repos/:owner"]);

/** What says the same to everybody, of whatever repository. */
const UNSERVED = "/:owner/:repository/info/lfs/*";

test("every route of the Worker asks for a token, but for those that are meant for everybody", async () => {
  const paths = new Set(worker.routes.map(({ path }) => path).filter((path) => !/^(\/api)?\/\*$/.test(path)));
  expect(paths.size).toBeGreaterThan(40);
  const asked: string[] = [];
  for (const { method, path } of worker.routes) {
    if (!paths.has(path)) continue;
    for (const verb of method === "ALL" ? ["GET", "POST"] : [method]) {
      const url = new URL(`http://localhost${path.replace(/:\w+(\{[^}]*\})?/g, "x").replace("*", "main/x")}`);
      if (path.endsWith("/info/refs")) url.searchParams.set("service", "git-upload-pack");
      const response = await worker.fetch(
        new Request(url, { method: verb }),
        { ...env, ACCESS: "token" },
        createExecutionContext(),
      );
      if (OPEN.has(path) && verb === "GET") expect(response.status, path).toBe(200);
      else if (path === UNSERVED) expect(response.status).toBe(501);
      // An RPC by another method is told so without a look at who asks.
      else if (response.status !== 405) expect([verb, path, response.status]).toEqual([verb, path, 401]);
      asked.push(path);
    }
  }
  expect(new Set(asked)).toEqual(paths);
});
