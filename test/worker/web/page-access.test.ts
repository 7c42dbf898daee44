/** Every page and form, asked by every kind of visitor: the expected answers follow from what each
 * row of `PAGE_ROUTES` needs. And what visitors are shown, they may do. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { includesRight, type Right } from "../../../src/base/access/caller.ts";
import { PAGE_ROUTES, type PageRoute } from "../../../src/worker/web/app.ts";
import { askApi } from "../../harness/api.ts";
import { shareBrowser } from "../../harness/browser.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { testSome } from "../../harness/sweep.ts";

const OPERATOR = "correct-horse-battery";

/** A visitor's right for `me/private`. */
const VISITORS = {
  anonymous: null,
  "of another repository": null,
  "of another owner": null,
  read: "read",
  write: "write",
  admin: "admin",
  "of the repository": "admin",
  operator: "operate",
} as const satisfies Record<string, Right | null>;

type Visitor = keyof typeof VISITORS;

const NAMES = Object.keys(VISITORS) as Visitor[];

let server: Server;
let head: string;
const cookies: Partial<Record<Visitor, string>> = {};

/** Pages of a repository. Forking is asked for on both sides, so it is tested by itself. */
const ROUTES = PAGE_ROUTES.filter(({ needed, path }) => needed !== null && !path.endsWith("/fork"));

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: OPERATOR } });
  const dir = await makeRepository("access");
  writeFileSync(join(dir, "file.txt"), "text\n");
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "first");
  await git(dir, "tag", "v1");
  head = await git(dir, "rev-parse", "HEAD");
  const base = server.url.replace("://", `://me:${OPERATOR}@`);
  for (const name of ["me/private", "me/public", "me/other", "you/one"])
    await git(dir, "push", "-q", `${base}/${name}`, "main", "v1");
  const headers = { Authorization: `Bearer ${OPERATOR}` };
  await askApi(server, "/repos/me/public", { method: "PATCH", json: { visibility: "public" }, headers });
  const signInWith = async (visitor: Visitor, wanted: Record<string, unknown>): Promise<void> => {
    const json = { owner: "me", name: visitor, right: "admin", ...wanted };
    const { body } = await askApi<{ token: string }>(server, "/tokens", { method: "POST", json, headers });
    cookies[visitor] = await signIn(body.token);
  };
  for (const right of ["read", "write", "admin"] as const) await signInWith(right, { right });
  await signInWith("of the repository", { repository: "private" });
  await signInWith("of another repository", { repository: "other" });
  await signInWith("of another owner", { owner: "you" });
  cookies.operator = await signIn(OPERATOR);
});
afterAll(() => server.close());

async function signIn(token: string): Promise<string> {
  const init = { method: "POST", headers: { "Sec-Fetch-Site": "same-origin" }, body: new URLSearchParams({ token }) };
  const response = await fetch(`${server.url}/-/sign-in`, { ...init, redirect: "manual" });
  return response.headers.get("Set-Cookie")!.split(";")[0]!;
}

/** Asks for a page, or sends a form, which is empty by default. */
function ask(
  visitor: Visitor,
  method: string,
  path: string,
  more: Record<string, string> = {},
  fields = new URLSearchParams(),
): Promise<Response> {
  const cookie = cookies[visitor];
  const headers = {
    Accept: "text/html",
    ...(cookie !== undefined && { Cookie: cookie }),
    ...(method === "POST" && { "Sec-Fetch-Site": "same-origin" }),
    ...more,
  };
  const body = method === "POST" ? fields : null;
  return fetch(server.url + path, { method, headers, body, redirect: "manual" });
}

/** What follows the names of pages that are not about a path. */
const RESTS: Readonly<Record<string, string>> = {
  commit: "main",
  archive: "main.zip",
  feed: "tags.atom",
  compare: "main...main",
  tag: "v1",
};

function pathOf({ path }: PageRoute, repository: string): string {
  const rest = RESTS[path.split("/")[3]!] ?? "main/file.txt";
  const named = path.replace(":owner", "me").replace(":repo", repository).replace("*", rest);
  return named.replace(/:\w+(\{[^}]*\})?/g, head);
}

/** What keeps a visitor out; null: nothing does. */
async function refusalOf(response: Response): Promise<"hidden" | "sign in" | "forbidden" | null> {
  if (response.headers.get("Location")?.startsWith("/-/sign-in") === true) return "sign in";
  if (response.headers.get("Content-Type") === "text/event-stream") {
    // It goes on for minutes.
    await response.body!.cancel();
    return null;
  }
  const text = await response.text();
  if (response.status === 404 && text.includes("<h1>Not found</h1>")) return "hidden";
  return response.status === 403 ? "forbidden" : null;
}

function expectedRefusal(visitor: Visitor, needed: Right, isPublic: boolean): Awaited<ReturnType<typeof refusalOf>> {
  // The repository's own token is another one's at `me/public`.
  const own = isPublic && visitor === "of the repository" ? null : VISITORS[visitor];
  const right = own ?? (isPublic ? "read" : null);
  if (right === null) return "hidden";
  if (includesRight(right, needed)) return null;
  return visitor === "anonymous" ? "sign in" : "forbidden";
}

test("forms need more than the right to read", () => {
  expect(ROUTES.length).toBeGreaterThan(20);
  for (const { method, path, needed } of ROUTES)
    if (method === "POST") expect(["write", "admin", "operate"], path).toContain(needed);
});

/** Whose requests `npm test` makes. */
const FEW: readonly Visitor[] = ["anonymous", "of another owner", "read", "write"];

describe.each(NAMES)("visitor: %s", (visitor) => {
  testSome(FEW.includes(visitor) ? 1 : 0, ["private", "public"], "of a %s repository", async (repository) => {
    const wrong: string[] = [];
    for (const route of ROUTES) {
      const expected = expectedRefusal(visitor, route.needed!, repository === "public");
      const path = pathOf(route, repository);
      const response = await ask(visitor, route.method, path);
      const { status } = response;
      const refusal = await refusalOf(response);
      if (refusal !== expected || status >= 500)
        wrong.push(`${route.method} ${path}: ${status} ${refusal}, expected ${expected}`);
    }
    expect(wrong, wrong.join("\n")).toEqual([]);
  });
});

testSome(
  1,
  ["anonymous", "of another repository", "of another owner"] as const,
  "to a visitor %s, what is private and what is missing look the same",
  async (visitor) => {
    const show = async (route: PageRoute, repository: string): Promise<unknown> => {
      const response = await ask(visitor, route.method, pathOf(route, repository));
      const headers = [...response.headers].filter(([name]) => !/^(?:date|x-request-id|server-timing)$/.test(name));
      return [response.status, headers, (await response.text()).replaceAll(repository, "NAME")];
    };
    for (const route of PAGE_ROUTES.filter(({ needed }) => needed !== null))
      expect(await show(route, "private"), route.path).toEqual(await show(route, "missing"));
  },
);

test.each(PAGE_ROUTES.filter(({ method }) => method === "POST").map((route) => [route.path, route] as const))(
  "a form of another site is refused at %s, whoever is signed in",
  async (_, route) => {
    for (const site of ["cross-site", "same-site", "none"]) {
      const response = await ask("operator", "POST", pathOf(route, "private"), { "Sec-Fetch-Site": site });
      expect(response.status, site).toBe(403);
      expect(await response.text(), site).toContain("a form of another site is not allowed");
    }
  },
);

test("in a browser, a page of another origin changes nothing", { tags: "sweep" }, async () => {
  const target = `${server.url}/me/other`;
  const foreign = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(
      `<form method="post" action="${target}/settings/delete"><input name="confirmation" value="me/other"><button>Delete</button></form>
       <form method="post" action="${target}/new/main" enctype="multipart/form-data"><input name="path" value="evil">
       <input name="author" value="e"><input name="email" value="e"><button>Write</button></form>`,
    );
  }).listen(0, "127.0.0.1");
  await once(foreign, "listening");
  const browser = await shareBrowser();
  try {
    const context = await browser.newContext();
    const [name, value] = cookies.operator!.split("=") as [string, string];
    await context.addCookies([{ name, value, url: server.url, sameSite: "Lax", httpOnly: true }]);
    const page = await context.newPage();
    expect((await page.goto(`${target}/settings/delete`))!.status()).toBe(200);
    for (const button of ["Delete", "Write"]) {
      await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
      await page.getByRole("button", { name: button }).click();
      await page.waitForURL(`${target}/**`);
      expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Not allowed");
    }
    expect((await page.goto(`${target}/blob/main/file.txt`))!.status()).toBe(200);
    expect((await page.goto(`${target}/blob/main/evil`))!.status()).toBe(404);
  } finally {
    await browser.close();
    foreign.close();
  }
});

describe.each(NAMES)("what is shown to a visitor: %s", (visitor) => {
  test("they may do", async () => {
    const seen = new Set<string>();
    const shown: string[] = [];
    for (const repository of ["private", "public"])
      for (const path of ["", "/tree/main", "/blob/main/file.txt"]) shown.push(`/me/${repository}${path}`);
    for (const path of ["/", "/me", "/you", ...shown]) {
      const html = await (await ask(visitor, "GET", path)).text();
      for (const [, url] of html.matchAll(/href="([^"#]+)"/g))
        if (/^\/-\/(?:new|tokens)|^\/\w+\/\w+\/(?:edit|new|upload|delete|fork|settings|search|find)\b/.test(url!))
          seen.add(url!);
    }
    for (const url of seen) expect((await ask(visitor, "GET", url)).status, url).toBe(200);
    const may = VISITORS[visitor];
    expect([...seen].some((url) => url.includes("/private/edit/"))).toBe(may !== null && includesRight(may, "write"));
    expect([...seen].some((url) => url.endsWith("/private/settings"))).toBe(
      may !== null && includesRight(may, "admin"),
    );
  });
});

/** What a visitor may do with everything of `me`; the operator, with that of all owners. */
const OF_OWNER = { read: "read", write: "write", admin: "admin", operator: "operate" } as const;

test.each(NAMES)("repositories and tokens of an owner, to a visitor: %s", async (visitor) => {
  const may = (needed: Right): boolean => {
    const right = (OF_OWNER as Partial<Record<Visitor, Right>>)[visitor];
    return right !== undefined && includesRight(right, needed);
  };
  const headers = { Authorization: `Bearer ${OPERATOR}` };
  const send = (path: string, fields: Record<string, string>) =>
    ask(visitor, "POST", path, {}, new URLSearchParams(fields));
  const exists = async (path: string) => (await askApi(server, `/repos/${path}`, { headers })).status === 200;
  const name = `made-by-${visitor.replaceAll(" ", "-")}`;
  const signsIn = visitor === "anonymous";
  const isOwner = visitor === "of another owner";

  // Some visitors may make repositories, but not below this owner.
  const form = await ask(visitor, "GET", "/-/new");
  expect(await refusalOf(form)).toBe(signsIn ? "sign in" : may("write") || isOwner ? null : "forbidden");
  const sent = await send("/-/new", { owner: "me", name, defaultBranch: "main" });
  expect([sent.status, await exists(`me/${name}`)]).toEqual(may("write") ? [303, true] : [signsIn ? 303 : 403, false]);
  if (signsIn) expect(await refusalOf(sent)).toBe("sign in");
  const below = await send("/-/new", { owner: "you", name, defaultBranch: "main" });
  const isMade = isOwner || visitor === "operator";
  expect([below.status, await exists(`you/${name}`)]).toEqual(isMade ? [303, true] : [signsIn ? 303 : 403, false]);

  const tokens = async () => {
    const { body } = await askApi<{ tokens: { id: string; name: string }[] }>(server, "/tokens?owner=me&limit=100", {
      headers,
    });
    return body.tokens.map((token) => token.name);
  };
  const json = { owner: "me", name: `spare of ${visitor}`, right: "read" };
  const { body: spare } = await askApi<{ id: string }>(server, "/tokens", { method: "POST", json, headers });
  const list = await ask(visitor, "GET", "/-/tokens/me");
  const made = await send("/-/tokens/me", { name, right: "admin" });
  const revoked = await send("/-/tokens/me/revoke", { id: spare.id });
  const refused = signsIn ? 404 : 403;
  expect([list.status, made.status]).toEqual(may("admin") ? [200, 201] : [refused, refused]);
  // It leads to the list either way: a token that is gone already is as revoked as it should be.
  expect(revoked.headers.get("Location")).toBe("/-/tokens/me");
  const left = await tokens();
  expect([left.includes(name), left.includes(json.name)]).toEqual(may("admin") ? [true, false] : [false, true]);
});

test("of forks, visitors are told those that they may read, and the count of no others", async () => {
  const headers = { Authorization: `Bearer ${OPERATOR}` };
  const make = (owner: string, visibility: string) =>
    askApi(server, "/repos/me/public/forks", {
      method: "POST",
      json: { owner, name: `fork-${visibility}`, visibility },
      headers,
    });
  for (const owner of ["me", "you"])
    for (const visibility of ["public", "private"]) expect((await make(owner, visibility)).status).toBe(201);
  const told = await Promise.all(
    NAMES.map(async (visitor) => {
      const html = await (await ask(visitor, "GET", "/me/public")).text();
      const links = [...html.matchAll(/href="\/(\w+\/fork-\w+)"/g)].map(([, name]) => name);
      return [visitor, /<h2>(\d+ forks)/.exec(html)?.[1], links];
    }),
  );
  const open = ["me/fork-public", "you/fork-public"];
  const mine = ["me/fork-private", ...open];
  expect(told).toEqual([
    ["anonymous", "2 forks", open],
    ["of another repository", "2 forks", open],
    ["of another owner", "3 forks", ["me/fork-public", "you/fork-private", "you/fork-public"]],
    ["read", "3 forks", mine],
    ["write", "3 forks", mine],
    ["admin", "3 forks", mine],
    ["of the repository", "2 forks", open],
    ["operator", "4 forks", ["me/fork-private", "me/fork-public", "you/fork-private", "you/fork-public"]],
  ]);
});

test("who may make repositories may fork what they may read, below their owner alone", async () => {
  const statuses = await Promise.all(
    NAMES.map(async (visitor) => {
      const [hidden, open] = await Promise.all(
        ["private", "public"].map(async (name) => (await ask(visitor, "GET", `/me/${name}/fork`)).status),
      );
      return [visitor, hidden, open];
    }),
  );
  expect(statuses).toEqual([
    ["anonymous", 404, 303],
    ["of another repository", 404, 403],
    ["of another owner", 404, 200],
    ["read", 403, 403],
    ["write", 200, 200],
    ["admin", 200, 200],
    ["of the repository", 403, 403],
    ["operator", 200, 200],
  ]);
  const body = new URLSearchParams({ owner: "me", name: "stolen", visibility: "public" });
  const headers = { Cookie: cookies["of another owner"]!, "Sec-Fetch-Site": "same-origin" };
  const response = await fetch(`${server.url}/me/public/fork`, { method: "POST", headers, body, redirect: "manual" });
  expect(response.status).toBe(403);
});
