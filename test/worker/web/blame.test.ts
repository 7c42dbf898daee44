/** The page of a blame names the commits that git names, and leads to the file before each of
 * them. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { BlameResult } from "../../../src/contract/history.ts";
import { blameRows } from "../../../src/worker/web/parts/blame-rows.ts";
import { Highlighter } from "../../../src/worker/web/parts/highlight.ts";
import { readPorcelain } from "../../harness/blamed-lines.ts";
import { git, makeRepository } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

const AS_BROWSER = { Accept: "text/html" };
const LATIN_1 = Buffer.from("\u00fc.txt", "latin1");
let server: Pick<Server, "url">;
let dir: string;

beforeAll(async () => {
  server = await shareServer("blamed");
  dir = await makeRepository("blamed");
  mkdirSync(join(dir, "in"));
  const lines = Array.from({ length: 30 }, (_, i) => `let line${i} = "<b>";`);
  const commit = async (message: string): Promise<void> => {
    await git(dir, "add", "-A");
    await git(dir, "commit", "-q", "-m", message);
  };
  const write = (): void => writeFileSync(join(dir, "in/old.js"), `${lines.join("\n")}\n`);
  write();
  writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), LATIN_1]), "one\n");
  await commit("Begin <all>");
  lines[3] = "/* three";
  lines[5] = "*/";
  write();
  writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), LATIN_1]), "one\ntwo\n");
  await commit("Comment");
  lines[20] = "twenty";
  write();
  renameSync(join(dir, "in/old.js"), join(dir, "new.js"));
  await commit("Rename");
  await git(dir, "push", "-q", `${server.url}/blamed/repo`, "main");
});

const look = (path: string) => fetch(server.url + path, { headers: AS_BROWSER });

/** The commit of each line, as a page tells it. */
function linesOf(html: string): string[] {
  return [...html.matchAll(/<tr><th scope="row"[^]*?commit\/([0-9a-f]{40})"[^]*?<\/tr>/g)].flatMap(([row, oid]) =>
    [...row.matchAll(/id="L(\d+)"/g)].map(([, line]) => `${line} ${oid}`),
  );
}

test("each line has the commit that git names", async () => {
  const html = await (await look("/blamed/repo/blame/main/new.js")).text();
  const lines = readPorcelain(await git(dir, "blame", "--porcelain", "main", "--", "new.js"));
  expect(new Set(lines.map((line) => line.split(" ")[0])).size).toBe(3);
  expect(linesOf(html)).toEqual(lines.map((line, i) => `${i + 1} ${line.split(" ")[0]}`));
  expect(html).toContain("Begin &lt;all&gt;");
  expect(html).not.toContain("<b>");
  // A comment that began in the lines of one commit goes on in those of another.
  expect(html).toMatch(/id="L5"[^]*?<code><span class="hc">let line4/);
});

test("the file before a commit is found by the name that it had there", async () => {
  const [renamed, commented, begun] = (await git(dir, "log", "--format=%H")).split("\n");
  const html = await (await look("/blamed/repo/blame/main/new.js")).text();
  expect(html).toContain(`/blamed/repo/blame/${renamed}/new.js?before=1`);
  expect(html).toContain(`/blamed/repo/blame/${commented}/in/old.js?before=1`);
  // Where there is no commit before, there is no way to it.
  expect(html).not.toContain(`/blamed/repo/blame/${begun}/in/old.js?before=1`);
  const former = await look(`/blamed/repo/blame/${renamed}/new.js?before=1`);
  expect(former.url).toBe(`${server.url}/blamed/repo/blame/${commented}/in/old.js`);
  expect(linesOf(await former.text())).toHaveLength(30);
  const odd = await look(`/blamed/repo/blame/${commented}/%FC.txt?before=1`);
  expect(odd.url).toBe(`${server.url}/blamed/repo/blame/${begun}/%FC.txt`);
  expect(await (await look(`/blamed/repo/blame/main/%FC.txt`)).text()).toContain(`${commented}/%FC.txt?before=1`);
  expect(await (await look(`/blamed/repo/blame/${begun}/%FC.txt?before=1`)).text()).toContain("nothing before");
});

test("lines whose commit was not found in time say so", () => {
  const blame: BlameResult = {
    commit: "",
    path: "a",
    oid: "",
    commits: [],
    truncated: true,
    ranges: [{ start: 1, count: 2, commit: null, originalStart: 1, originalPath: "a" }],
  };
  const place = { owner: "a", name: "b", visibility: "public", right: "read" } as const;
  const shown = { place, lines: ["<one>", "two"], highlighter: new Highlighter(null), blame, nowMs: 0 };
  const html = [...blameRows(shown)].join("");
  expect(html).toContain("not found in time");
  expect(html).toContain("&lt;one&gt;\ntwo");
});
