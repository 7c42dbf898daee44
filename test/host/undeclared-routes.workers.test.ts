/** Finds routes without declared access: everything that the Worker serves needs a token, except
 * the routes listed here. */
import { createExecutionContext, env } from "cloudflare:test";
import { expect, test } from "vitest";
import worker from "../../src/host/worker.ts";

/** Open to everybody. */
const OPEN = new Set(["/", "/healthz", "/api/docs", "/api/openapi.json", "/api/repos", "/api/repos/:owner"]);

/** The answer is the same for everybody and for every repository. */
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
      // An RPC by another method is refused before the caller is identified.
      else if (response.status !== 405) expect([verb, path, response.status]).toEqual([verb, path, 401]);
      asked.push(path);
    }
  }
  expect(new Set(asked)).toEqual(paths);
});
