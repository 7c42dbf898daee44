/** With open access, every user of this machine may do everything, and no web page that they visit
 * may do anything. */
import { once } from "node:events";
import { createServer, type Server as PageServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GIT_ROUTES } from "../../../src/worker/host/git-routes.ts";
import { askApi } from "../../harness/api.ts";
import { startBrowser } from "../../harness/browser.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { request, type RawRequest } from "../../harness/raw.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { testSome } from "../../harness/sweep.ts";

let server: Pick<Server, "url">;
let port: string;

beforeAll(async () => {
  server = await shareServer("open");
  ({ port } = new URL(server.url));
  await git(await makeHistory({ commits: 2, files: 2 }), "push", `${server.url}/open/repo`, "HEAD:refs/heads/main");
});

/** Every route, with whatever its path needs. */
async function allRoutes(): Promise<{ method: string; path: string }[]> {
  const { body } = await askApi<{ paths: Record<string, Record<string, unknown>> }>(server, "/openapi.json");
  const documented = Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => ({ method: method.toUpperCase(), path: `/api${path}` })),
  );
  const ofGit = GIT_ROUTES.map(({ method, path, service }) => ({
    method,
    path: `/{owner}/{repo}${path}${service === undefined ? "" : `?service=${service}`}`,
  }));
  const others = ["/", "/open/repo", "/healthz", "/api/docs", "/api/openapi.json", "/nothing"];
  return [...documented, ...ofGit, ...others.map((path) => ({ method: "GET", path }))].map(({ method, path }) => ({
    method,
    path: path
      .replace("{owner}", "open")
      .replace("{repo}", "repo")
      .replace(/\{\w+\}|:\w+/g, "main"),
  }));
}

async function ask(method: string, path: string, headers: Record<string, string>) {
  const body = ["GET", "HEAD"].includes(method) ? {} : { body: Buffer.from("{}") };
  const options = { method, headers, ...body } as RawRequest;
  const { status, headers: answered, body: bytes } = await request(server.url + path, options);
  return { status, allowed: answered["access-control-allow-origin"], text: bytes.toString() };
}

/** What a page of another site sends, or a page under its own name that resolves to this
 * machine. */
const FOREIGN: Record<string, (own: string) => Record<string, string>> = {
  "another Host": () => ({ Host: "evil.example" }),
  "another Host on the port": () => ({ Host: `evil.example:${port}` }),
  "a Host that looks like this machine": () => ({ Host: `localhost.evil.example:${port}` }),
  "another that does": () => ({ Host: "127.0.0.1.evil.example" }),
  "the address of nobody": () => ({ Host: `0.0.0.0:${port}` }),
  "an address of this machine that others reach": () => ({ Host: `192.168.1.2:${port}` }),
  "another Host, and a page of it": () => ({ Host: `evil.example:${port}`, Origin: `http://evil.example:${port}` }),
  "another site": () => ({ Origin: "https://evil.example" }),
  "another port": () => ({ Origin: "http://localhost:3000" }),
  "another scheme": (own) => ({ Origin: own.replace("http:", "https:") }),
  "another name of this machine": () => ({ Origin: `http://localhost:${port}` }),
  "a page without an origin": () => ({ Origin: "null" }),
  "a link, an image or a script of another site": () => ({
    "Sec-Fetch-Site": "cross-site",
    "Sec-Fetch-Mode": "no-cors",
  }),
  "one of another port": () => ({ "Sec-Fetch-Site": "same-site" }),
};

/** A Host, an Origin, and what only the browser tells. */
const FEW = ["another Host", "another site", "a link, an image or a script of another site"];
const others = Object.keys(FOREIGN).filter((from) => !FEW.includes(from));

testSome(FEW.length, [...FEW, ...others], "no route answers %s", async (from) => {
  const wrong: string[] = [];
  for (const { method, path } of await allRoutes()) {
    const { status, allowed, text } = await ask(method, path, FOREIGN[from]!(server.url));
    if (status !== 403 || allowed !== undefined) wrong.push(`${method} ${path}: ${status}, ${allowed}`);
    if (method !== "HEAD" && !text.includes("with open access this server answers only"))
      wrong.push(`${path}: ${text}`);
  }
  expect(wrong).toEqual([]);
});

test("no preflight is granted", async () => {
  for (const path of ["/api/repos/open/repo", "/open/repo/git-receive-pack"]) {
    for (const origin of ["https://evil.example", server.url]) {
      const headers = { Origin: origin, "Access-Control-Request-Method": "DELETE" };
      const response = await fetch(server.url + path, { method: "OPTIONS", headers });
      expect([...response.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
      expect(response.ok).toBe(false);
    }
  }
});

test("every name of this machine is served, to git, to scripts and to the server's own pages", async () => {
  for (const host of [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    "localhost",
    `[::1]:${port}`,
    "127.8.9.1",
    `a.localhost:${port}`,
  ]) {
    const page = { Host: host, Origin: `http://${host}`, "Sec-Fetch-Site": "same-origin" };
    for (const headers of [
      { Host: host },
      page,
      { Host: host, "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate" },
    ]) {
      expect((await ask("GET", "/api/repos/open/repo", headers)).status, JSON.stringify(headers)).toBe(200);
    }
  }
  const clone = makeTempDir("clone");
  await git(clone, "clone", `http://localhost:${port}/open/repo`, ".");
});

test("git shows why a name is refused", async () => {
  const headers = ["-c", `http.extraHeader=Host: evil.example:${port}`];
  await expect(git(makeTempDir("clone"), ...headers, "clone", `${server.url}/open/repo`, ".")).rejects.toThrow(
    `remote: the Host evil.example:${port} is not allowed`,
  );
});

describe("in Chromium", () => {
  let browser: Browser;
  let pages: PageServer;
  let evilPort: number;

  beforeAll(async () => {
    // The browser resolves this name to this machine, as after DNS rebinding.
    browser = await startBrowser(["--host-resolver-rules=MAP evil.test 127.0.0.1"]);
    pages = createServer((_, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end("<!doctype html><title>a page</title>");
    }).listen(0, "127.0.0.1");
    await once(pages, "listening");
    evilPort = (pages.address() as AddressInfo).port;
  });

  afterAll(async () => {
    pages.close();
    await browser.close();
  });

  async function openPage(url: string): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(url);
    return page;
  }

  /** What the requests below would change. Others use the server, too. */
  const state = async () => {
    const [made, { body }, log] = await Promise.all([
      askApi(server, "/repos/evil"),
      askApi<Record<string, unknown>>(server, "/repos/open/repo"),
      askApi(server, "/repos/open/repo/pushes"),
    ]);
    const { id, visibility, defaultBranch } = body;
    return [made.body, { id, visibility, defaultBranch }, log.body];
  };

  /** Has a page try all requests that it may send, and returns what it could read. */
  async function attack(page: Page, target: string): Promise<string[]> {
    return page.evaluate(async (url) => {
      const read: string[] = [];
      const attempt = async (path: string, init: object) => {
        try {
          const response = await fetch(url + path, init);
          const text = await response.text();
          if (response.ok && text !== "") read.push(`${path}: ${text.slice(0, 40)}`);
        } catch {
          // Not sent, or not readable.
        }
      };
      const json = { "Content-Type": "application/json" };
      const commit = {
        branch: "main",
        message: "m",
        author: { name: "E", email: "e@evil.test" },
        operations: [{ op: "put", path: "evil", content: "evil" }],
      };
      await attempt("/api/repos", {});
      await attempt("/api/repos/open/repo/files?ref=main", {});
      await attempt("/open/repo/info/refs?service=git-upload-pack", {});
      await attempt("/api/repos/open/repo/maintenance", { method: "POST" });
      await attempt("/api/repos/open/repo/maintenance", { method: "POST", mode: "no-cors" });
      await attempt("/api/repos/open/repo/commits", { method: "POST", mode: "no-cors", body: JSON.stringify(commit) });
      await attempt("/api/repos", { method: "POST", headers: json, body: '{"owner":"evil","name":"made"}' });
      await attempt("/api/repos/open/repo", { method: "PATCH", headers: json, body: '{"visibility":"public"}' });
      await attempt("/api/repos/open/repo/branches/main", { method: "DELETE" });
      await attempt("/api/repos/open/repo", { method: "DELETE" });
      return read;
    }, target);
  }

  test("a page of another site reads nothing and changes nothing", async () => {
    const before = await state();
    for (const origin of [
      `http://evil.test:${evilPort}`,
      `http://localhost:${evilPort}`,
      `http://127.0.0.1:${evilPort}`,
    ]) {
      const page = await openPage(origin);
      for (const target of [server.url, `http://localhost:${port}`]) expect(await attack(page, target)).toEqual([]);
      await page.setContent(`<form method=post action="${server.url}/api/repos/open/repo/maintenance"></form>`);
      const answer = page.waitForResponse(/maintenance/);
      await page.$eval("form", (form) => (form as unknown as { submit(): void }).submit());
      expect((await answer).status()).toBe(403);
    }
    expect(await state()).toEqual(before);
  });

  test("a page whose own name leads here is refused", async () => {
    const before = await state();
    const page = await openPage(`http://evil.test:${port}/`);
    expect(await page.textContent("body")).toContain(`the Host evil.test:${port} is not allowed`);
    expect(await attack(page, `http://evil.test:${port}`)).toEqual([]);
    expect(await state()).toEqual(before);
  });

  test("pages of the server itself may use it", async () => {
    for (const origin of [server.url, `http://localhost:${port}`]) {
      const page = await openPage(`${origin}/healthz`);
      const statuses = await page.evaluate(async () => {
        const json = { "Content-Type": "application/json" };
        const made = await fetch("/api/repos", {
          method: "POST",
          headers: json,
          body: '{"owner":"own","name":"made"}',
        });
        const deleted = await fetch("/api/repos/own/made", { method: "DELETE" });
        return [made.status, deleted.status];
      });
      expect(statuses).toEqual([201, 204]);
    }
  });
});
