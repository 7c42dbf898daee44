// What git shows its user when something is wrong with a push, or worth knowing.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FSCK_MESSAGES } from "../../src/base/codec/fsck-messages.ts";
import { explainFinding } from "../../src/base/codec/fsck-meanings.ts";
import { askApi } from "../harness/api.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { sendPush } from "../harness/raw-push.ts";
import { type Server, startServer } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { testSome } from "../harness/sweep.ts";

/** The limit for one file, on the server that has one. */
const MAX_FILE_BYTES = 1_000_000;

let server: Pick<Server, "url">;
let strict: Server;
let dir: string;

beforeAll(async () => {
  [server, strict] = await Promise.all([
    shareServer("messages"),
    startServer({
      vars: { LIMITS: JSON.stringify({ maxObjectSizeBytes: MAX_FILE_BYTES, maxPackObjects: 40 }) },
    }),
  ]);
  dir = await makeHistory({ commits: 12, files: 3 });
});
afterAll(() => strict.close());

/** Pushes, and returns what git showed. */
async function push(cwd: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await tryGit(cwd, ["push", ...args]);
  // Git pads the server's lines, to overwrite what the terminal showed before.
  return `${stdout}${stderr}`.replaceAll(/ +$/gm, "");
}

test("a push to a name that did not exist says that it exists now; no other push does", async () => {
  const url = `${server.url}/messages/nmae.git`;
  expect(await push(dir, url, "main~2:refs/heads/main")).toMatch(/^remote: Created messages\/nmae$/m);
  expect(await push(dir, url, "main")).not.toContain("Created");
  expect(await push(dir, "-q", `${server.url}/messages/quiet`, "main")).toBe("remote: Created messages/quiet\n");
  expect(await push(dir, "-q", `${server.url}/messages/quiet`, "main:more")).toBe("");
  await askApi(server, "/repos", { method: "POST", json: { owner: "messages", name: "made" } });
  expect(await push(dir, `${server.url}/messages/made`, "main")).not.toContain("Created");
  // A push that fails leaves nothing.
  const refused = await sendPush(`${server.url}/messages/none`, {
    commands: [{ name: "refs/heads/a", new: "1".repeat(40) }],
  });
  expect(refused.progress).not.toContain("Created");
  expect((await askApi(server, "/repos/messages/none")).status).toBe(404);
});

test("a push that is too large for one request is told the way out, any other is not", async () => {
  const url = `${strict.url}/messages/large`;
  const shown = await push(dir, url, "main", "main~3:refs/heads/feature/a");
  expect(shown).toContain(
    [
      "remote: This push is too large for one request. It can come in steps, which go on after a cut:",
      `remote:     curl -fo ~/git-remote-holdfast ${strict.url}/-/git-remote-holdfast && chmod +x ~/git-remote-holdfast`,
      `remote:     PATH=~:$PATH git push holdfast::${url}.git main feature/a`,
    ].join("\n"),
  );
  expect(shown).toContain("objects in a pack exceeds the limit of 40");
  expect(await push(dir, url, "main", "main:a;b")).toContain(`git push holdfast::${url}.git <refs>`);
  const file = await makeRepository("file");
  await writeFile(join(file, "zeros"), new Uint8Array(MAX_FILE_BYTES + 1));
  await git(file, "add", ".");
  await git(file, "commit", "-q", "-m", "zeros");
  expect(await push(file, url, "main")).not.toContain("holdfast::");
});

test("two first pushes at once: one of them is told", async () => {
  const all = await Promise.all(
    [0, 1, 2, 3].map((i) => push(dir, `${server.url}/messages/raced`, `main:refs/heads/b${i}`)),
  );
  expect(all.filter((shown) => shown.includes("Created messages/raced"))).toHaveLength(1);
});

test("a push by a former name says what the name is now", async () => {
  await push(dir, `${server.url}/messages/notes`, "main~2:refs/heads/main");
  await askApi(server, "/repos/messages/notes", { method: "PATCH", json: { name: "diary" } });
  // While a name is cached, a rename is not noticed.
  let pushes = 0;
  await expect
    .poll(() => push(dir, `${server.url}/messages/notes.git`, `main:refs/heads/b${(pushes += 1)}`))
    .toContain(
      `remote: This repository is now messages/diary: git remote set-url origin ${server.url}/messages/diary.git`,
    );
  expect(await push(dir, `${server.url}/messages/diary`, "main:refs/heads/more")).not.toContain("remote:");
});

testSome(
  1,
  ["2", "0", "1"],
  "a clone and a fetch by a former name say what it is now, protocol %s",
  async (version) => {
    const [before, after] = [`${server.url}/messages/first${version}`, `${server.url}/messages/second${version}`];
    await push(dir, before, "main~2:refs/heads/main");
    await askApi(server, `/repos/messages/first${version}`, { method: "PATCH", json: { name: `second${version}` } });
    const shown = async (cwd: string, ...args: string[]): Promise<string> => {
      const { code, stderr } = await tryGit(cwd, ["-c", `protocol.version=${version}`, ...args]);
      expect(code, stderr).toBe(0);
      return stderr.replaceAll(/ +$/gm, "");
    };
    const notice = `remote: This repository is now messages/second${version}: git remote set-url origin ${after}.git\n`;
    const clone = await makeRepository("clone");
    let clones = 0;
    const cloned = (url: string, progress: string) => shown(clone, "clone", progress, url, String((clones += 1)));
    // While a name is cached, a rename is not noticed.
    await expect.poll(() => cloned(before, "--progress")).toContain(notice);
    // The notice comes with every kind of response (made for this client, shared, or stored), only
    // for clients that ask for progress, and only under this name.
    for (let times = 0; times < 3; times++) {
      const [told, ...quiet] = await Promise.all([
        cloned(before, "--progress"),
        cloned(before, "--no-progress"),
        cloned(after, "--progress"),
      ]);
      expect(told).toContain(notice);
      for (const text of quiet) expect(text).not.toContain("is now");
    }
    await push(dir, after, "main");
    await git(clone, "remote", "add", "origin", before);
    expect(await shown(clone, "fetch", "--progress", "origin")).toContain(notice);
    expect(await git(clone, "rev-parse", "origin/main")).toBe(await git(dir, "rev-parse", "main"));
  },
);

test("a file that is too large is told by its size, with what names it", async () => {
  const large = await makeRepository("large");
  await writeFile(join(large, "big file.bin"), Buffer.alloc(MAX_FILE_BYTES + 5, 1));
  await writeFile(join(large, "small"), "x");
  await git(large, "add", ".");
  await git(large, "commit", "-q", "-m", "large");
  const shown = await push(large, `${strict.url}/messages/large`, "main");
  const [, limit, size, command] =
    /remote unpack failed: a file .* exceeds the limit of (\d+) \(it is (\d+)\): (.*) finds it; move it to Git LFS/.exec(
      shown,
    ) ?? [];
  expect([limit, size], shown).toEqual([String(MAX_FILE_BYTES), String(MAX_FILE_BYTES + 5)]);
  // The suggested command works.
  const script = `!sh -c '${command!.replaceAll("'", String.raw`'\''`)}'`;
  expect(await git(large, "-c", `alias.named=${script}`, "named")).toBe(`${MAX_FILE_BYTES + 5} big file.bin`);
});

test("a pack that is too large is told with what would do", async () => {
  expect(await push(dir, `${strict.url}/messages/many`, "main")).toMatch(
    /remote unpack failed: objects in a pack exceeds the limit of 40 \(it is \d+\): push the history in parts/,
  );
  // Programs are told by a word of its own.
  await git(dir, "bundle", "create", "-q", join(dir, "many.bundle"), "main");
  const { status, body } = await askApi<{ error: object }>(strict, "/repos/messages/restored/backup.bundle", {
    method: "PUT",
    body: await readFile(join(dir, "many.bundle")),
    headers: { "Content-Type": "application/x-git-bundle" },
  });
  expect([status, body.error]).toEqual([413, expect.objectContaining({ code: "too-large", limitKind: "pack" })]);
});

test("a finding of fsck is told with its meaning, and whether a setting would let it pass", async () => {
  const refuse = async (...objects: ReturnType<typeof makeObject>[]): Promise<string> => {
    const commands = [{ name: "refs/heads/main", new: objects.at(-1)!.oid }];
    return (await sendPush(`${server.url}/messages/fsck`, { commands, pack: packOf(...objects) })).unpack;
  };
  const blob = makeObject("blob", "x");
  const dotgit = makeTree(["100644", ".GIT", blob]);
  expect(await refuse(blob, dotgit, makeCommit(dotgit))).toBe(
    `object ${dotgit.oid} fails fsck: hasDotgit: the tree has an entry that some file systems take for .git, so that a checkout ` +
      "would write into it; an admin of the repository may push it with `git push -o fsck=lenient`",
  );
  const wrong = makeObject("commit", `tree ${makeTree().oid}\nauthor A <a@x> 1 +0000\n\nm\n`);
  expect(await refuse(makeTree(), wrong)).toMatch(
    /fails fsck: missingCommitter: the commit has no committer; no setting/,
  );
  for (const id of FSCK_MESSAGES) expect(explainFinding(id)).toMatch(/^[^A-Z].*; (an admin|no setting) /);
});

test("a shallow clone that cannot push is told what to do, and then can", async () => {
  const url = `${server.url}/messages/deep`;
  await push(dir, url, "main");
  const shallow = await makeRepository("shallow");
  await git(shallow, "fetch", "-q", "--depth=2", url, "main:fetched");
  const shown = await push(shallow, `${server.url}/messages/elsewhere`, "fetched:refs/heads/main");
  expect(shown).toContain(
    "fetched -> main (shallow update not allowed: commits before the clone's shallow boundary are missing here",
  );
  expect(shown).toContain("run git fetch --unshallow, then push again");
  expect(await push(shallow, url, "fetched:refs/heads/copy")).toContain("[new branch]");
  await git(shallow, "fetch", "-q", "--unshallow", url);
  expect(await push(shallow, `${server.url}/messages/elsewhere`, "fetched:refs/heads/main")).toContain("[new branch]");
});

test.each([
  ["/repo.git", "in /repo.git the owner is missing"],
  ["/group/messages/repo.git", "/group/messages/repo.git has 3 parts instead of two"],
])("a URL that can be no repository's is told what is wrong: %s", async (path, reason) => {
  for (const args of [
    ["push", server.url + path, "main"],
    ["clone", server.url + path, "never"],
  ]) {
    const { code, stderr } = await tryGit(dir, args);
    expect(code).not.toBe(0);
    expect(stderr).toContain(`remote: a repository's URL is <server>/<owner>/<name>.git: ${reason}`);
  }
});
