/** What the pages of history answer besides pages: patches and feeds; and what forms change. */
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
