/** Finds routes without declared access: everything that the Worker serves needs a token, except
 * the routes listed here. */
import { createExecutionContext, env } from "cloudflare:test";
import { expect, test } from "vitest";
import worker from "../../../src/main.ts";
import { PAGE_ROUTES } from "../../../src/worker/web/app.ts";

/** Open to everybody. */
const OPEN = new Set(["/", "/healthz", "/api/docs", "/api/openapi.json", "/api/repos", "/api/repos/:owner"]);

/** Pages that show everybody something. Others tell nobody that there is anything. */
const OPEN_PAGES = new Set(["/", "/-/sign-in"]);

/** Of no repository: it leads to where one signs in. */
const TO_SIGN_IN = "/-/new";

/** The paths of pages. */
const PAGES = new Set(PAGE_ROUTES.map(({ path }) => path));

/** Not of a repository. */
const ASSETS = new Set(["/-/assets/:file", "/-/git-remote-holdfast", "/-/git-lfs-holdfast"]);

async function ask(path: string, method: string, headers: Record<string, string>): Promise<Response> {
  const url = new URL(`http://localhost${path.replace(/:\w+(\{[^}]*\})?/g, "x").replace("*", "main/x")}`);
  if (path.endsWith("/info/refs")) url.searchParams.set("service", "git-upload-pack");
  const request = new Request(url, { method, headers });
  return worker.fetch(request, { ...env, ACCESS: "token" }, createExecutionContext());
}

test("every route of the Worker asks for a token, but for those that are meant for everybody", async () => {
  const paths = new Set(worker.routes.map(({ path }) => path).filter((path) => !/^(\/api)?\/\*$/.test(path)));
  expect(paths.size).toBeGreaterThan(40);
  const asked: string[] = [];
  for (const { method, path } of worker.routes) {
    if (!paths.has(path)) continue;
    asked.push(path);
    if (PAGES.has(path) || ASSETS.has(path)) continue;
    for (const verb of method === "ALL" ? ["GET", "POST"] : [method]) {
      const { status } = await ask(path, verb, {});
      if (OPEN.has(path) && verb === "GET") expect(status, path).toBe(200);
      // An RPC by another method is refused before the caller is identified.
      else if (status !== 405) expect([verb, path, status]).toEqual([verb, path, 401]);
    }
  }
  expect(new Set(asked)).toEqual(paths);
});

test("every page shows nothing of a repository, and every form is refused, but what is meant for everybody", async () => {
  for (const { method, path } of PAGE_ROUTES) {
    const { status } = await ask(path, method, { Accept: "text/html" });
    const expected = method === "POST" ? 403 : OPEN_PAGES.has(path) ? 200 : path === TO_SIGN_IN ? 303 : 404;
    expect([method, path, status]).toEqual([method, path, expected]);
  }
});
