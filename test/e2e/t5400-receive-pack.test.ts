// Raw requests to git-receive-pack: what it advertises, accepts and reports. @see
// gitprotocol-pack(5)
import { beforeAll, beforeEach, expect, test } from "vitest";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { decodeLines, decodePkts, encodePkt, FLUSH, request } from "../harness/raw.ts";
import { encodePushHead, NULL_HEX, PUSH_TYPE, readRefs, sendBody, sendPush } from "../harness/raw-push.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { testSome } from "../harness/sweep.ts";

const blob = makeObject("blob", "content\n");
const tree = makeTree(["100644", "file", blob]);
const commit = makeCommit(tree);
const other = makeCommit(tree, [commit.oid], "Other\n");
const pack = packOf(blob, tree, commit);
const create = { commands: [{ name: "refs/heads/main", new: commit.oid }], pack };

const CAPABILITIES =
  "report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options object-format=sha1";

let server: Pick<Server, "url">;
let url: string;
let repositories = 0;
beforeAll(async () => {
  server = await shareServer("t5400");
});
beforeEach(() => {
  url = `${server.url}/t5400/repo-${repositories++}.git`;
});

async function advertise(headers: Record<string, string> = {}): Promise<{ lines: string[]; type: string }> {
  const response = await request(`${url}/info/refs?service=git-receive-pack`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers["cache-control"]).toContain("no-cache");
  return { lines: decodeLines(response.body), type: response.headers["content-type"] ?? "" };
}

test("a repository that does not exist advertises its capabilities alone, and stays unknown", async () => {
  const { lines, type } = await advertise();
  expect(type).toBe("application/x-git-receive-pack-advertisement");
  expect(lines).toEqual([
    "# service=git-receive-pack",
    "flush",
    expect.stringMatching(new RegExp(`^${NULL_HEX} capabilities\\^\\{\\}\0${CAPABILITIES} agent=holdfast/`)),
    "flush",
  ]);
  expect((await request(`${url}/info/refs?service=git-upload-pack`)).status).toBe(404);
});

test("every ref is advertised, by name, and the first carries the capabilities", async () => {
  const names = ["refs/tags/v1", "refs/heads/main", "refs/heads/a"];
  await sendPush(url, { commands: names.map((name) => ({ name, new: commit.oid })), pack });
  const { lines } = await advertise();
  expect(lines.slice(2)).toEqual([
    expect.stringMatching(new RegExp(`^${commit.oid} refs/heads/a\0${CAPABILITIES}`)),
    `${commit.oid} refs/heads/main`,
    `${commit.oid} refs/tags/v1`,
    "flush",
  ]);
});

test("version 1 is announced; version 2, which the service does not have, is passed over", async () => {
  expect((await advertise({ "git-protocol": "version=1" })).lines[2]).toBe("version 1");
  expect((await advertise({ "git-protocol": "version=2" })).lines[2]).toContain("capabilities^{}");
});

test("the probe that git sends before a large push is answered with nothing", async () => {
  for (const body of [FLUSH, [FLUSH]]) {
    const response = await request(`${url}/git-receive-pack`, { method: "POST", headers: PUSH_TYPE, body });
    expect([response.status, response.body.length]).toEqual([200, 0]);
    expect(response.headers["content-type"]).toBe("application/x-git-receive-pack-result");
  }
});

test("report-status without side-band is a bare report", async () => {
  const { text } = await sendPush(url, { ...create, capabilities: "report-status" });
  expect(decodeLines(Buffer.from(text))).toEqual(["unpack ok", "ok refs/heads/main", "flush"]);
});

test("report-status-v2 in a side-band", async () => {
  const answer = await sendPush(url, { ...create, capabilities: "report-status-v2 side-band-64k object-format=sha1" });
  expect(answer).toMatchObject({ unpack: "ok", refs: new Map([["refs/heads/main", null]]) });
  expect(decodePkts(Buffer.from(answer.text, "latin1")).at(-1)).toBe("flush");
});

test("no report where none was asked for", async () => {
  expect((await sendPush(url, { ...create, capabilities: "" })).text).toBe("");
  expect(await readRefs(url)).toEqual(new Map([["refs/heads/main", commit.oid]]));
  const again = { commands: [{ name: "refs/heads/again", new: commit.oid }], pack: packOf() };
  expect((await sendPush(url, { ...again, capabilities: "side-band-64k" })).text).toMatch(/0000$/);
});

test("progress says what happened, and nothing to who wants quiet", async () => {
  expect((await sendPush(url, create)).progress).toContain("Receiving objects: 100% (3/3), done.\n");
  const more = { commands: [{ name: "refs/heads/quiet", new: other.oid }], pack: packOf(other) };
  expect((await sendPush(url, { ...more, capabilities: "report-status side-band-64k quiet" })).progress).toBe("");
});

test("push options are read, and only where they were negotiated", async () => {
  const capabilities = "report-status side-band-64k push-options";
  expect((await sendPush(url, { ...create, capabilities, pushOptions: ["ci.skip", "a=b c"] })).unpack).toBe("ok");
  const again = { commands: [{ name: "refs/heads/again", new: commit.oid }], pack: packOf() };
  expect((await sendPush(url, { ...again, pushOptions: ["ci.skip"] })).unpack).not.toBe("ok");
});

test("not atomic: the good ref moves, the bad one does not", async () => {
  const broken = makeCommit(makeTree(["100644", "file", makeObject("blob", "missing")]));
  const commands = [
    { name: "refs/heads/broken", new: broken.oid },
    { name: "refs/heads/main", new: commit.oid },
    { name: "refs/heads/a..b", new: commit.oid },
  ];
  const { unpack, refs } = await sendPush(url, { commands, pack: packOf(blob, tree, commit, broken) });
  expect(unpack).toBe("ok");
  expect(Object.fromEntries(refs)).toEqual({
    "refs/heads/broken": expect.stringContaining("missing necessary objects"),
    "refs/heads/main": null,
    "refs/heads/a..b": "funny refname",
  });
  expect(await readRefs(url)).toEqual(new Map([["refs/heads/main", commit.oid]]));
  const onBroken = makeCommit(tree, [broken.oid]);
  const answer = await sendPush(url, {
    commands: [{ name: "refs/heads/x", new: onBroken.oid }],
    pack: packOf(onBroken),
  });
  expect(answer.refs.get("refs/heads/x")).toBeTruthy();
});

test("a directory and a file of one name in one push: one of them at most", async () => {
  const commands = ["refs/heads/a", "refs/heads/a/b"].map((name) => ({ name, new: commit.oid }));
  const { refs } = await sendPush(url, { commands, pack });
  expect([...refs.values()].filter((reason) => reason !== null)).toHaveLength(1);
  expect((await readRefs(url)).size).toBe(1);
});

test("deletions need no pack, and nothing else does without", async () => {
  await sendPush(url, {
    commands: ["main", "old"].map((name) => ({ name: `refs/heads/${name}`, new: commit.oid })),
    pack,
  });
  const deletion = await sendPush(url, { commands: [{ name: "refs/heads/old", old: commit.oid }] });
  expect(deletion).toMatchObject({ unpack: "ok", refs: new Map([["refs/heads/old", null]]) });
  const creation = await sendPush(url, { commands: [{ name: "refs/heads/new", new: commit.oid }] });
  expect(creation.unpack).not.toBe("ok");
  expect(await readRefs(url)).toEqual(new Map([["refs/heads/main", commit.oid]]));
});

test("an update, a force and a deletion in one push", async () => {
  const names = ["ahead", "back", "gone"].map((name) => `refs/heads/${name}`);
  await sendPush(url, { commands: names.map((name) => ({ name, new: commit.oid })), pack });
  const unrelated = makeCommit(tree, [], "Unrelated\n");
  const commands = [
    { name: names[0]!, old: commit.oid, new: other.oid },
    { name: names[1]!, old: commit.oid, new: unrelated.oid },
    { name: names[2]!, old: commit.oid },
  ];
  const { refs } = await sendPush(url, { commands, pack: packOf(other, unrelated) });
  expect([...refs]).toEqual(names.map((name) => [name, null]));
  expect([...(await readRefs(url))]).toEqual([
    [names[0], other.oid],
    [names[1], unrelated.oid],
  ]);
});

test("shallow lines are taken before and between commands", async () => {
  const head = [
    encodePkt(`shallow ${commit.oid}`),
    encodePkt(`${NULL_HEX} ${commit.oid} refs/heads/a\0report-status`),
    encodePkt(`shallow ${other.oid}`),
    encodePkt(`${NULL_HEX} ${commit.oid} refs/heads/b`),
    FLUSH,
  ];
  const { refs } = await sendBody(url, Buffer.concat([...head, pack]));
  expect([...refs.values()]).toEqual([null, null]);
});

test("commands end with or without a newline", async () => {
  const lines = [`${NULL_HEX} ${commit.oid} refs/heads/a\0report-status\n`, `${NULL_HEX} ${commit.oid} refs/heads/b\n`];
  const { refs } = await sendBody(url, Buffer.concat([...lines.map((line) => encodePkt(line)), FLUSH, pack]));
  expect([...refs.keys()]).toEqual(["refs/heads/a", "refs/heads/b"]);
});

testSome(1, [3_000, 30_000], "%i commands in one push", async (count) => {
  const commands = Array.from({ length: count }, (_, i) => ({ name: `refs/heads/b${i}`, new: commit.oid }));
  const { unpack, refs } = await sendPush(url, { commands, pack });
  expect(unpack).toBe("ok");
  expect([...refs.values()].filter((reason) => reason === null)).toHaveLength(count);
  expect((await readRefs(url)).size).toBe(count);
});

test("a body that arrives in small chunks, and one that is compressed", async () => {
  const body = Buffer.concat([encodePushHead(create), pack]);
  const chunks = Array.from({ length: Math.ceil(body.length / 3) }, (_, i) => body.subarray(3 * i, 3 * i + 3));
  expect((await sendBody(url, chunks)).unpack).toBe("ok");
  const again = Buffer.concat([encodePushHead({ commands: [{ name: "refs/heads/gz", new: commit.oid }] }), packOf()]);
  const response = await request(`${url}/git-receive-pack`, {
    method: "POST",
    headers: PUSH_TYPE,
    body: again,
    gzip: true,
  });
  expect(response.status).toBe(200);
  expect((await readRefs(url)).size).toBe(2);
});
