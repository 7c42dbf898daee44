/** What the URLs of the server and of repositories answer: pages to browsers, to each what it may
 * see; a line of text to other clients. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { type Server, startServer } from "../../harness/server.ts";

const ADMIN = "correct-horse-battery";
const AS_BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
let server: Server;

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN } });
  const dir = await makeRepository("source");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  for (const name of ["public", "private"]) {
    await git(dir, "push", "-q", `${server.url.replace("://", `://me:${ADMIN}@`)}/me/${name}.git`, "main");
  }
  const headers = { Authorization: `Bearer ${ADMIN}` };
  await askApi(server, "/repos/me/public", { method: "PATCH", json: { visibility: "public" }, headers });
});

afterAll(() => server.close());

const look = (path: string) => fetch(server.url + path, { headers: AS_BROWSER });

test.each(["/me/public", "/me/public.git", "/me/public/", "/me/public/tree/main/"])(
  "a browser finds the page of a repository at %s",
  async (path) => {
    const response = await look(path);
    expect(response.status).toBe(200);
    expect(new URL(response.url).pathname).toBe(path.includes("tree") ? "/me/public/tree/main" : "/me/public");
    expect(await response.text()).toContain("me/public · Holdfast");
  },
);

test("lists show what is public, and nothing else", async () => {
  for (const path of ["/", "/me", "/?q=p"]) {
    const text = await (await look(path)).text();
    expect(text).toContain("/me/public");
    expect(text).not.toContain("private");
  }
  expect((await look("/you")).status).toBe(404);
});

test("a private repository looks to a browser as one that is not there, on every page", async () => {
  for (const below of ["", "/tree/main", "/blob/main/x", "/raw/main/x", "/settings"]) {
    const [hidden, missing] = await Promise.all([look(`/me/private${below}`), look(`/me/missing${below}`)]);
    expect(hidden.status).toBe(404);
    expect(missing.status).toBe(404);
    expect(await hidden.text()).toBe((await missing.text()).replaceAll("missing", "private"));
    const shown = ({ headers }: Response) =>
      [...headers].filter(([name]) => !/^(x-request-id|server-timing|date|content-length)$/.test(name));
    expect(shown(hidden)).toEqual(shown(missing));
    // The browser does not ask for a password.
    expect(hidden.headers.get("WWW-Authenticate")).toBeNull();
  }
  expect((await look("/me/bad%20name")).status).toBe(404);
});

test("a repository that was renamed is found by its former name", async () => {
  const headers = { Authorization: `Bearer ${ADMIN}` };
  const rename = (from: string, name: string) =>
    askApi(server, `/repos/me/${from}`, { method: "PATCH", json: { name }, headers });
  await rename("public", "renamed");
  const response = await look("/me/public/commits/main?author=ada");
  expect([response.status, response.url]).toEqual([200, `${server.url}/me/renamed/commits/main?author=ada`]);
  await rename("renamed", "public");
});

test("what asks for no page gets a line of text", async () => {
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(server.url + path, { headers });
    expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    return [response.status, await response.text()];
  };
  expect(await read("/")).toEqual([200, expect.stringMatching(/^Holdfast: a Git host\..*main\n$/)]);
  expect(await read("/me/public")).toEqual([200, `git clone ${server.url}/me/public.git\n`]);
  expect((await read("/me/private"))[0]).toBe(401);
  expect(await read("/me/private")).toEqual(await read("/me/missing"));
  const headers = { Authorization: `Bearer ${ADMIN}` };
  expect(await read("/me/private", headers)).toEqual([200, `git clone ${server.url}/me/private.git\n`]);
  expect((await read("/me/missing", headers))[0]).toBe(404);
});
