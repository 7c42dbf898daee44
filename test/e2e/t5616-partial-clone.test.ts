import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readClone } from "../harness/clone-contents.ts";
import { git, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type ServedPair, servePair } from "../harness/served-pair.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

let served: ServedPair;
beforeAll(async () => {
  const origin = await makeHistory({ commits: 40, files: 12, branches: 3, merges: 2, tags: 4 });
  const { stdout } = await tryGit(origin, ["hash-object", "-w", "--stdin"], { stdin: "/dir-0/\n!/dir-0/dir-0/\n" });
  await git(origin, "update-ref", "refs/tags/sparse", stdout.trim());
  served = await servePair(origin, ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"]);
});
afterAll(() => served.close());

async function clone(url: string, version: number, options: string): Promise<string> {
  const dir = join(makeTempDir("clone"), "clone");
  const settings = ["-c", `protocol.version=${version}`];
  await git(makeTempDir("cwd"), ...settings, "clone", "-q", "--no-checkout", ...options.split(" "), url, dir);
  return dir;
}

test.each([
  [0, "--filter=blob:none"],
  [0, "--filter=tree:0 --depth=1"],
  [2, "--filter=blob:none"],
  [2, "--filter=blob:limit=300"],
  [2, "--filter=tree:0"],
  [2, "--filter=tree:2"],
  [2, "--filter=object:type=commit"],
  [2, "--filter=combine:blob:limit=300+tree:3"],
  [2, "--filter=blob:none --depth=2"],
  [2, "--filter=sparse:oid=sparse"],
])("by protocol v%i, clone %s, then a checkout", async (version, options) => {
  const [ours, gits] = await Promise.all(
    [served.holdfast, served.native].map(async (url) => {
      const dir = await clone(url, version, options);
      const before = await readClone(dir);
      // What is missing is fetched now.
      await git(dir, "-c", `protocol.version=${version}`, "checkout", "-q", "main");
      return { before, after: await readClone(dir), status: await git(dir, "status", "--porcelain") };
    }),
  );
  expect(ours).toEqual(gits);
  expect(ours!.before.objects.some((oid) => oid.startsWith("?"))).toBe(true);
  expect(ours!.status).toBe("");
});

test.each([
  ["blob:nothing", "invalid filter-spec"],
  ["sparse:path=x", "sparse:path filters support has been dropped"],
])("the filter %s is refused", async (filter, message) => {
  const { code, stderr } = await tryGit(makeTempDir("cwd"), ["clone", `--filter=${filter}`, served.holdfast, "clone"]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
});
