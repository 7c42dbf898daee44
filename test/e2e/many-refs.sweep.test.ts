import { join } from "node:path";
import { expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { git, makeRepository } from "../harness/git.ts";
import { makeCommit, makeTree, packOf } from "../harness/pack-builder.ts";
import { sendPush } from "../harness/raw-push.ts";
import { startServer } from "../harness/server.ts";
import { encodeRequest } from "../harness/transcript.ts";

/** CPU that a request of 100,000 refs may take (s), half of it without a pause: a quiet machine
 * serves others within two seconds. */
const MAX_CPU_SECONDS = 4;

test("a mirror of 100,000 refs is pushed, cloned, wanted by name and told", async () => {
  const server = await startServer();
  try {
    const tree = makeTree();
    const commit = makeCommit(tree);
    const all = Array.from(
      { length: 100_000 },
      (_, i) => `refs/pull/${String(i).padStart(6, "0")}/${i % 2 === 0 ? "head" : "merge"}`,
    );
    const url = `${server.url}/me/mirror`;
    const commands = [...all, "refs/heads/main"].map((name) => ({ name, new: commit.oid }));
    // By hand: git's client compares each ref with each before it sends anything, which takes
    // hours.
    const before = server.readUsage().cpuSeconds;
    const { unpack, refs } = await sendPush(url, { commands, pack: packOf(tree, commit) });
    expect(server.readUsage().cpuSeconds - before).toBeLessThan(MAX_CPU_SECONDS);
    expect([unpack, [...refs.values()].filter((error) => error !== null)]).toEqual(["ok", []]);
    const dir = await makeRepository("mirror");
    await git(dir, "clone", "-q", "--mirror", url, "copy.git");
    const listed = await git(join(dir, "copy.git"), "for-each-ref", "--format=%(refname)");
    expect(listed.split("\n")).toEqual(["refs/heads/main", ...all]);
    const since = server.readUsage().cpuSeconds;
    const wants = all.map((name) => `want-ref ${name}`);
    const answer = await fetch(`${url}/git-upload-pack`, {
      method: "POST",
      headers: { "Content-Type": "application/x-git-upload-pack-request", "Git-Protocol": "version=2" },
      body: new Uint8Array(encodeRequest("command=fetch", "delim", ...wants, "done", "flush")),
    });
    const wanted = (await answer.text()).match(/[0-9a-f]{40} refs\/pull\/\d{6}\/(head|merge)\n/g) ?? [];
    expect(server.readUsage().cpuSeconds - since).toBeLessThan(MAX_CPU_SECONDS);
    expect(wanted.map((line) => line.slice(41, -1))).toEqual(all);
    const { body } = await askApi<{ pushes: { refCount: number }[] }>(server, "/repos/me/mirror/pushes");
    expect(body.pushes.map(({ refCount }) => refCount)).toEqual([100_001]);
  } finally {
    await server.close();
  }
});
