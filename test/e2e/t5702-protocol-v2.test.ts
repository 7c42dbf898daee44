import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, makeRepository } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type NativeServer, startNative } from "../harness/native.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { encodeRequest, post, readAnswer } from "../harness/transcript.ts";

let server: Pick<Server, "url">;
let native: NativeServer;
/** The same history on both. */
let urls: { holdfast: string; native: string };
const oids: Record<string, string> = {};

beforeAll(async () => {
  server = await shareServer("t5702");
  const root = makeTempDir("root");
  const origin = await makeHistory({ commits: 60, files: 30, branches: 4, merges: 2, tags: 6 });
  await git(makeTempDir("cwd"), "clone", "-q", "--mirror", origin, join(root, "history.git"));
  native = await startNative(root);
  urls = { holdfast: `${server.url}/t5702/history.git`, native: `${native.url}/history.git` };
  await git(origin, "push", "-q", "--mirror", urls.holdfast);
  for (const name of ["main", "main~10", "side-0", "side-3", "v0"]) oids[name] = await git(origin, "rev-parse", name);
});
afterAll(() => native.close());

test.each([
  [
    "ls-refs",
    2,
    ["command=ls-refs", "delim", "peel", "symrefs", "unborn", "ref-prefix refs/tags/", "ref-prefix HEAD", "flush"],
  ],
  ["a round", 2, ["command=fetch", "delim", "want main", "have side-3", "thin-pack", "no-progress", "flush"]],
  ["a last round", 2, ["command=fetch", "delim", "want main", "have main~10", "thin-pack", "no-progress", "flush"]],
  ["a round of v0", 0, ["want main multi_ack_detailed no-done side-band-64k", "flush", "have side-3", "flush"]],
  ["a last round of v0", 0, ["want main multi_ack_detailed no-done side-band-64k", "flush", "have main~10", "flush"]],
] as [string, 0 | 2, string[]][])(
  "%s (protocol v%i) is answered as git http-backend does",
  async (_, version, lines) => {
    const body = encodeRequest(
      ...lines.map((line) =>
        line.replace(/^(want|have) (\S+)/, (_match, word: string, name: string) => `${word} ${oids[name]}`),
      ),
    );
    const [ours, gits] = await Promise.all([
      post({ url: urls.holdfast }, body, version),
      post({ url: urls.native }, body, version),
    ]);
    expect(ours.status).toBe(gits.status);
    expect(ours.headers["content-type"]).toBe(gits.headers["content-type"]);
    expect(readAnswer(ours.body)).toEqual(readAnswer(gits.body));
  },
);

test("ls-remote lists what git's own server lists", async () => {
  for (const version of [0, 1, 2]) {
    const list = (url: string): Promise<string> =>
      git(makeTempDir("cwd"), "-c", `protocol.version=${version}`, "ls-remote", "--symref", url);
    expect(await list(urls.holdfast)).toBe(await list(urls.native));
  }
});

test("name and name.git are one", async () => {
  const list = (url: string): Promise<string> => git(makeTempDir("cwd"), "ls-remote", url);
  expect(await list(urls.holdfast.replace(/\.git$/, ""))).toBe(await list(urls.holdfast));
});

test("negotiation only", async () => {
  const clone = await makeRepository("clone.git", "--bare");
  await git(clone, "fetch", "-q", urls.holdfast, "side-0:side-0");
  const negotiate = (url: string): Promise<string> =>
    git(clone, "fetch", "--negotiate-only", "--negotiation-tip=side-0", url);
  const common = await negotiate(urls.holdfast);
  expect(common.split("\n")).toContain(oids["side-0"]);
  expect(common).toBe(await negotiate(urls.native));
});
