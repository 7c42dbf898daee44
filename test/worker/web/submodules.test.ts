/** Submodules of a directory and their own pages: a link where their commits can be looked at. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { git, makeRepository } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

const OID = "ab".repeat(20);

/** By path: the URL, and the page that it leads to. */
const MODULES: readonly [path: string, url: string | null, page: string | null][] = [
  ["near", "../b.git", `/org/b/tree/${OID}`],
  ["constructor", null, null],
  ["far", "https://github.com/a/b.git", `https://github.com/a/b/tree/${OID}`],
  ["script", "javascript:alert(1)", null],
  ["in/near", "../b.git", `/org/b/tree/${OID}`],
];

let server: Pick<Server, "url">;

beforeAll(async () => {
  server = await shareServer("modules");
  const dir = await makeRepository("modules");
  await mkdir(join(dir, "in"));
  const sections = MODULES.filter(([, url]) => url !== null).map(
    ([path, url]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`,
  );
  await writeFile(join(dir, ".gitmodules"), sections.join(""));
  await git(dir, "add", ".gitmodules");
  for (const [path] of MODULES) await git(dir, "update-index", "--add", "--cacheinfo", `160000,${OID},${path}`);
  await git(dir, "commit", "-q", "-m", "modules");
  await git(dir, "push", "-q", `${server.url}/org/sup`, "HEAD:main");
});

async function read(path: string): Promise<string> {
  const response = await fetch(server.url + path, { headers: { Accept: "text/html" } });
  expect(response.status).toBe(200);
  return response.text();
}

const linksTo = (html: string): string[] =>
  [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!).filter((href) => href.includes(OID));

test("a list of files leads to the commits of submodules", async () => {
  const pages = (paths: RegExp) =>
    MODULES.flatMap(([path, , page]) => (paths.test(path) && page !== null ? [page] : []));
  for (const path of ["", "/tree/main"]) {
    const html = await read(`/org/sup${path}`);
    expect(linksTo(html).toSorted()).toEqual(pages(/^[^/]*$/).toSorted());
    expect(html).not.toContain("javascript:");
  }
  expect(linksTo(await read("/org/sup/tree/main/in"))).toEqual(pages(/^in\//));
});

test.each(MODULES)("the page of %s, from %s, leads to %s", async (path, url, page) => {
  const html = await read(`/org/sup/tree/main/${path}`);
  expect(linksTo(html)).toEqual(page === null ? [] : [page]);
  expect(html).toContain(OID);
  if (url !== null) expect(html).toContain(`<code>${url}</code>`);
});
