import { expect, test } from "vitest";
import { git, listRefs, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { sendPush } from "../harness/raw-push.ts";
import { startServer } from "../harness/server.ts";
import { askMeanwhile, describeWaits } from "./ask-meanwhile.ts";
import { checkRoundTrip, importCommit, importFile, importRepository } from "./round-trip.ts";

/** The longest that a repository may keep others waiting while it applies a push. */
const ANSWER_MS = 100;

test("100,000 files in one tree", async () => {
  const files = Array.from({ length: 100_000 }, (_, i) => importFile(`file-${i}`, `line ${i}`));
  // One file removed and one added: two trees of 4 MB that differ by little.
  const changes = [importCommit(1), "D file-500\n", importFile("file-more", "more")];
  const origin = await importRepository([importCommit(0), ...files, ...changes]);
  await checkRoundTrip("100,000 files in one tree", origin);
});

test("100,000 files in nested trees", async () => {
  const files = Array.from({ length: 100_000 }, (_, i) =>
    importFile(`a-${i % 7}/b-${i % 53}/c-${i % 997}/d-${i % 11}/file-${i}`, `line ${i}`),
  );
  const changes = [importCommit(1), "D a-3\n", importFile("a-1/b-1/more", "more")];
  const origin = await importRepository([importCommit(0), ...files, ...changes]);
  await checkRoundTrip("100,000 files in nested trees", origin);
});

test("300,000 objects in one pack", async () => {
  const commits = Array.from(
    { length: 75_000 },
    (_, i) => importCommit(i) + importFile(`dir-${i % 50}/file-${i % 1000}`, `line ${i}`),
  );
  const origin = await importRepository(commits);
  expect(Number(await git(origin, "rev-list", "--objects", "--all", "--count"))).toBeGreaterThanOrEqual(299_000);
  await checkRoundTrip("300,000 objects in one pack", origin);
});

test("while a push of 300,000 objects is applied, its repository answers others within 100 ms", async () => {
  const commits = Array.from(
    { length: 75_000 },
    (_, i) => importCommit(i) + importFile(`dir-${i % 50}/file-${i % 1000}`, `line ${i}`),
  );
  const origin = await importRepository(commits);
  // Applied last, and reported at its end.
  let endMs = 0;
  const server = await startServer({
    onPrint: (line) => {
      if (line.includes('"event":"push"')) endMs = Date.now();
    },
  });
  try {
    const url = `${server.url}/me/settled.git`;
    const small = await makeHistory({ commits: 10, files: 5 });
    await git(small, "push", "-q", url, "main:refs/tags/first");
    await server.takeEvent("push");
    const asking = askMeanwhile(url, 2);
    await git(origin, "push", "-q", url, "refs/*:refs/*");
    const asked = await asking.end();
    const { applyMs, indexMs, objects } = await server.takeEvent("push");
    expect(objects).toBeGreaterThanOrEqual(299_000);
    const beginMs = endMs - applyMs;
    const before = asked.filter(({ startMs }) => startMs < beginMs);
    // Of what was asked before, the wait from then on.
    const during = asked
      .map(({ startMs, ms }) => ({ startMs, ms: Math.min(ms, startMs + ms - beginMs) }))
      .filter(({ startMs, ms }) => ms > 0 && startMs <= endMs);
    const figures = {
      "index, apply ms": `${indexMs}, ${applyMs}`,
      "ms of answers while it is applied: median, 99 %, most": describeWaits(during),
      "ms of answers before that": describeWaits(before),
    };
    console.log("while 300,000 objects are applied", JSON.stringify(figures, null, 2));
    expect(during.length).toBeGreaterThan(applyMs / 1_000);
    expect(Math.max(...during.map(({ ms }) => ms))).toBeLessThanOrEqual(ANSWER_MS);
  } finally {
    await server.close();
  }
});

test("30,000 refs: branches, tags and annotated tags", async () => {
  const origin = await makeHistory({ commits: 1_000, files: 50, branches: 20, merges: 10 });
  const commits = (await git(origin, "rev-list", "main")).split("\n");
  const commitAt = (i: number): string => commits[i % commits.length]!;
  const refs = Array.from(
    { length: 20_000 },
    (_, i) => `create refs/${i % 2 === 0 ? "heads" : "tags"}/topic-${i} ${commitAt(i)}\n`,
  );
  expect((await tryGit(origin, ["update-ref", "--stdin"], { stdin: refs.join("") })).code).toBe(0);
  const tags = Array.from(
    { length: 10_000 },
    (_, i) => `tag v${i}\nfrom ${commitAt(i)}\ntagger Ada Example <ada@example.com> 1700000000 +0100\ndata 0\n`,
  );
  expect((await tryGit(origin, ["fast-import", "--quiet"], { stdin: tags.join("") })).code).toBe(0);
  // A raw push: git itself takes minutes for so many refs, with any server.
  await checkRoundTrip("30,000 refs", origin, async (dir, url) => {
    const refLines = (await listRefs(dir)).split("\n").map((line) => line.split(" ") as [string, string]);
    const { stdoutBytes: pack } = await tryGit(dir, ["pack-objects", "--all", "-q", "--stdout"]);
    const { unpack } = await sendPush(url, { commands: refLines.map(([oid, name]) => ({ name, new: oid })), pack });
    expect(unpack).toBe("ok");
  });
});
