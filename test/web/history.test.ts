/** What the pages of history answer besides pages: patches and feeds; and what forms change. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { git, tryGit } from "../harness/git.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { makeHistoryRepository } from "./history-pages.ts";

let server: Pick<Server, "url">;
let dir: string;
let at: string;

beforeAll(async () => {
  [server, dir] = await Promise.all([shareServer("told"), makeHistoryRepository()]);
  at = `${server.url}/told/history`;
  await git(dir, "push", "-q", at, "--all");
  await git(dir, "push", "-q", at, "--tags");
});

test.each(["v1.0", "changes", "side", "hostile"])("the patch of %s is git's to the byte", async (rev) => {
  const oid = await git(dir, "rev-parse", `${rev}^{commit}`);
  const response = await fetch(`${at}/commit/${oid}.patch`);
  expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
  expect(response.headers.get("Content-Security-Policy")).toContain("sandbox");
  const own = Buffer.from(await response.arrayBuffer());
  const options = ["--stdout", "-1", "-p", "--full-index", "--binary", "--no-signature", "--root", oid];
  const { stdoutBytes } = await tryGit(dir, ["format-patch", ...options]);
  // A binary file may be compressed otherwise, and git may write it as a delta: `git am` takes both.
  const comparable = (patch: Buffer) =>
    patch.toString("latin1").replace(/(?<=GIT binary patch\n)[^]*?(?=\ndiff |\n*$)/g, "");
  expect(comparable(own)).toBe(comparable(stdoutBytes));
  const tag = { headers: { "If-None-Match": response.headers.get("ETag")! } };
  expect((await fetch(`${at}/commit/${oid}.patch`, tag)).status).toBe(304);
});

test("git am takes a patch", async () => {
  const oid = await git(dir, "rev-parse", "changes");
  const patch = Buffer.from(await (await fetch(`${at}/commit/${oid}.patch`)).arrayBuffer());
  await git(dir, "checkout", "-q", "--detach", "v1.0");
  const { code, stderr } = await tryGit(dir, ["am", "-q", "--keep-cr"], { stdin: patch });
  expect([code, stderr.replaceAll(/^warning:.*\n/gm, "")]).toEqual([0, expect.any(String)]);
  expect(await git(dir, "rev-parse", "HEAD^{tree}")).toBe(await git(dir, "rev-parse", "changes^{tree}"));
});

test("a diff is git's to the byte, of a merge that of its first parent", async () => {
  const oid = await git(dir, "rev-parse", "main");
  const own = await (await fetch(`${at}/commit/${oid}.diff`)).text();
  const { stdout } = await tryGit(dir, ["diff", "-M", "--full-index", "main^1", "main"]);
  expect(own).toBe(stdout);
});

/** Sends a form, as a browser does. */
const send = (path: string, fields: Record<string, string>, headers = {}) =>
  fetch(at + path, {
    method: "POST",
    body: new URLSearchParams(fields),
    redirect: "manual",
    headers: { "Sec-Fetch-Site": "same-origin", ...headers },
  });

test("what is compared is merged, if it is still what was seen", async () => {
  await git(dir, "checkout", "-q", "-B", "theirs", "main");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "theirs");
  await git(dir, "checkout", "-q", "-B", "ours", "main");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "ours");
  await git(dir, "push", "-q", at, "ours", "theirs");
  const [base, head] = [await git(dir, "rev-parse", "ours"), await git(dir, "rev-parse", "theirs")];
  const fields = { base, head, message: "Both\r\n\r\nof them", name: "Eve", email: "eve@example.com" };
  const stale = await send("/compare/ours...theirs", { ...fields, head: base });
  expect(stale.status).toBe(409);
  expect(await stale.text()).toContain("look at the changes again");
  expect((await send("/compare/ours...theirs", fields, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
  const done = await send("/compare/ours...theirs", fields);
  expect([done.status, done.headers.get("Location")]).toEqual([303, "/told/history/commits/ours"]);
  await git(dir, "fetch", "-q", at, "ours");
  expect(await git(dir, "log", "-1", "--format=%P|%an <%ae>|%B", "FETCH_HEAD")).toBe(
    `${base} ${head}|Eve <eve@example.com>|Both\n\nof them\n`,
  );
});

test("a merge with conflicts says where, and keeps what was typed", async () => {
  for (const name of ["left", "right"]) {
    await git(dir, "checkout", "-q", "-B", name, "main");
    writeFileSync(join(dir, "side.txt"), `${name}\n`);
    await git(dir, "commit", "-q", "-a", "-m", name);
  }
  await git(dir, "push", "-q", at, "left", "right");
  const [base, head] = [await git(dir, "rev-parse", "left"), await git(dir, "rev-parse", "right")];
  const fields = { base, head, message: "My <words>", name: "Eve", email: "eve@example.com" };
  const refused = await send("/compare/left...right", fields);
  const text = await refused.text();
  expect(refused.status).toBe(409);
  expect(text).toMatch(/<bdi>side\.txt<\/bdi>: content/);
  expect(text).toContain("My &lt;words&gt;");
});
