import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readClone } from "../harness/clone-contents.ts";
import { git, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type ServedPair, servePair } from "../harness/served-pair.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { testSome } from "../harness/sweep.ts";

let origin = "";
let served: ServedPair;
beforeAll(async () => {
  origin = await makeHistory({ commits: 40, files: 12, branches: 3, merges: 2, tags: 4 });
  const { stdout } = await tryGit(origin, ["hash-object", "-w", "--stdin"], { stdin: "/dir-0/\n!/dir-0/dir-0/\n" });
  await git(origin, "update-ref", "refs/tags/sparse", stdout.trim());
  await git(origin, "tag", "-a", "-m", "A tree", "shelf", "main~2:dir-4");
  served = await servePair("t5616", origin, ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"]);
});
afterAll(() => served.close());

async function clone(url: string, version: number, options: string): Promise<string> {
  const dir = join(makeTempDir("clone"), "clone");
  const settings = ["-c", `protocol.version=${version}`];
  await git(makeTempDir("cwd"), ...settings, "clone", "-q", "--no-checkout", ...options.split(" "), url, dir);
  return dir;
}

const CLONES: readonly (readonly [version: number, options: string])[] = [
  [2, "--filter=blob:none"],
  [2, "--filter=blob:limit=300"],
  [0, "--filter=tree:0 --depth=1"],
  [0, "--filter=blob:none"],
  [2, "--filter=tree:0"],
  [2, "--filter=tree:2"],
  [2, "--filter=object:type=commit"],
  [2, "--filter=combine:blob:limit=300+tree:3"],
  [2, "--filter=blob:none --depth=2"],
  [2, "--filter=sparse:oid=sparse"],
];

testSome(3, CLONES, "by protocol v%i, clone %s, then a checkout", async ([version, options]) => {
  const [ours, gits] = await Promise.all(
    [served.holdfast, served.native].map(async (url) => {
      const dir = await clone(url, version, options);
      const before = await readClone(dir);
      // Fetches the missing objects.
      await git(dir, "-c", `protocol.version=${version}`, "checkout", "-q", "main");
      return { before, after: await readClone(dir), status: await git(dir, "status", "--porcelain") };
    }),
  );
  expect(ours).toEqual(gits);
  expect(ours!.before.objects.some((oid) => oid.startsWith("?"))).toBe(true);
  expect(ours!.status).toBe("");
});

/** All objects in a client's own store; this fetches nothing. */
async function listHeld(dir: string): Promise<string[]> {
  return (await git(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")).split("\n");
}

testSome(
  1,
  [2, 0],
  "by protocol v%i, what is named comes although commits that are here lead to it",
  async (version) => {
    const named = (await git(origin, "rev-parse", "main:dir-3/dir-3/file-3.txt", "main:dir-3", "main^{tree}")).split(
      "\n",
    );
    const [file, folder, root] = named as [string, string, string];
    const [ours, gits] = await Promise.all(
      [served.holdfast, served.native].map(async (url) => {
        const dir = await clone(url, version, "--no-tags --single-branch --filter=tree:0");
        const held = [await listHeld(dir)];
        for (const args of [[file], [root], ["--filter=blob:none", folder], ["tag", "shelf"], ["--refetch"]]) {
          const [option, ...names] = args[0]!.startsWith("-") ? args : ["--quiet", ...args];
          await git(dir, "-c", `protocol.version=${version}`, "fetch", "-q", option!, "origin", ...names);
          held.push(await listHeld(dir));
        }
        return held;
      }),
    );
    expect(ours).toEqual(gits);
    expect(named.map((oid, i) => [ours![0]!.includes(oid), ours![i + 1]!.includes(oid)])).toEqual(
      named.map(() => [false, true]),
    );
  },
);

test.each([
  ["blob:nothing", "invalid filter-spec"],
  ["sparse:path=x", "sparse:path filters support has been dropped"],
])("the filter %s is refused", async (filter, message) => {
  const { code, stderr } = await tryGit(makeTempDir("cwd"), ["clone", `--filter=${filter}`, served.holdfast, "clone"]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
});
