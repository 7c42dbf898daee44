// What a page does not have in its query is refused: a misspelt one must not count as none.
import { beforeAll, expect, test } from "vitest";
import { PAGE_ROUTES } from "../../../src/worker/web/app.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { sendPush } from "../../harness/raw-push.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

const file = makeObject("blob", "content\n");
const root = makeTree(["100644", "file", file]);
const commit = makeCommit(root);

let server: Pick<Server, "url">;

beforeAll(async () => {
  server = await shareServer("queries");
  const commands = [{ name: "refs/heads/main", new: commit.oid }];
  await sendPush(`${server.url}/queries/repo.git`, { commands, pack: packOf(file, root, commit) });
});

async function show(path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(server.url + path, { headers: { Accept: "text/html" }, redirect: "manual" });
  return { status: response.status, text: await response.text() };
}

test("an unknown parameter is named by every page", async () => {
  for (const { method, path } of PAGE_ROUTES) {
    if (method !== "GET" || path.endsWith("/")) continue;
    const at = path.replace("/:owner/:repo", "/queries/repo").replace(":owner", "queries").replace("*", "main/file");
    const { status, text } = await show(`${at}?cursro=zzz`);
    expect([at, status]).toEqual([at, 422]);
    expect(text).toContain("there is no parameter &quot;cursro&quot; here");
  }
});

const REFUSED: readonly (readonly [query: string, reason: string])[] = [
  ["commit/OID?part=2&part=3", "the part is not valid: it is there more than once"],
  ["commit/OID?part=1.0", "the part is not valid"],
  ["commit/OID?part=01", "the part is not valid"],
  ["commit/OID?parent=x", "the parent is not valid"],
  ["commit/OID?view=splti", "the view is not valid"],
  ["commit/OID?w=2", "the w is not valid"],
  ["commit/OID.diff?parent=1", "there is no parameter &quot;parent&quot; here: there is none"],
  ["branches?start=-1", "the start is not valid"],
  ["tags?start=x", "the start is not valid"],
  ["contributors?start=1e3", "the start is not valid"],
  ["settings/pushes?before=x", "the before is not valid"],
];

test.each(REFUSED)("%s is refused", async (query, reason) => {
  const { status, text } = await show(`/queries/repo/${query.replace("OID", commit.oid)}`);
  expect([status, text]).toEqual([422, expect.stringContaining(reason)]);
});
