/** Directories of 300,000 entries that differ in all of them, or in one: what compares them counts
 * what differs, pauses, and answers in part or in words, while others are served. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/base/format/configured-limits.ts";
import { makeCommit, type MadeObject, makeObject, makeTree, makeWideTree, packOf } from "../harness/pack-builder.ts";
import { sendPush } from "../harness/raw-push.ts";
import { type Server, startServer } from "../harness/server.ts";

const ENTRIES = 300_000;

/** CPU for which others may have to wait (seconds), and bytes of an answer. */
const BOUND_SECONDS = 1.5;
const MOST_BYTES = 1024 * 1024;

const ADA = { name: "Ada Example", email: "ada@example.com" };

const blob = makeObject("blob", "content\n");
const lines = Array.from({ length: 200 }, (_, i) => `line ${i}\n`);
const text = makeObject("blob", lines.join(""));
const changed = makeObject("blob", lines.with(7, "another line\n").join(""));

/** @param edited the indexes of changed files */
const makeWide = (salt: string, ...edited: number[]): MadeObject =>
  makeWideTree(
    Array.from({ length: ENTRIES }, (_, i) => {
      const name = salt + String(i).padStart(7, "0");
      return ["100644", name, edited.includes(i) ? changed : blob] as const;
    }),
  );
const [first, second, third] = [makeWide("a"), makeWide("b"), makeWide("c")];
/** Each edits one file of the first. */
const [left, right] = [makeWide("a", 5), makeWide("a", 200_000)];
const roots = [
  makeTree(["40000", "d", first], ["100644", "text", text]),
  makeTree(["40000", "d", second], ["100644", "moved", changed]),
  makeTree(["40000", "d", third], ["100644", "text", changed]),
] as const;
const base = makeCommit(roots[0]);
const main = makeCommit(roots[1], [base.oid]);
const fork = makeCommit(roots[2], [base.oid]);
const editedRoots = [
  makeTree(["40000", "d", left], ["100644", "text", text]),
  makeTree(["40000", "d", right], ["100644", "text", text]),
] as const;
const ours = makeCommit(editedRoots[0], [base.oid]);
const theirs = makeCommit(editedRoots[1], [base.oid]);
/** The tree of both edits. */
const both = makeTree(["40000", "d", makeWide("a", 5, 200_000)], ["100644", "text", text]);

let server: Server;

beforeAll(async () => {
  // As deployed, jobs make way for requests: otherwise their work would count for whoever asks.
  server = await startServer({ vars: { LIMITS: JSON.stringify({ quietMs: DEFAULT_LIMITS.quietMs }) } });
  const commands = [
    { name: "refs/heads/main", new: main.oid },
    { name: "refs/heads/fork", new: fork.oid },
    { name: "refs/heads/ours", new: ours.oid },
    { name: "refs/heads/theirs", new: theirs.oid },
  ];
  const trees = [first, second, third, left, right, ...roots, ...editedRoots];
  const pack = packOf(blob, text, changed, ...trees, base, main, fork, ours, theirs);
  expect((await sendPush(`${server.url}/me/wide.git`, { commands, pack })).unpack).toBe("ok");
});

afterAll(() => server.close());

/** Sends a request, and meanwhile others.
 * @returns also the most CPU that went by before another request was answered (seconds) */
async function ask(path: string, json?: unknown): Promise<{ status: number; body: string; waited: number }> {
  let ended = false;
  let waited = 0;
  const others = (async () => {
    while (!ended) {
      const before = server.readUsage().cpuSeconds;
      await (await fetch(`${server.url}/healthz`)).text();
      waited = Math.max(waited, server.readUsage().cpuSeconds - before);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const isPage = !path.startsWith("/api/");
  const init = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
  const headers = { Accept: isPage ? "text/html" : "*/*", "Content-Type": "application/json" };
  const response = await fetch(server.url + path, { ...init, headers });
  const body = await response.text();
  ended = true;
  await others;
  return { status: response.status, body, waited };
}

const API = "/api/repos/me/wide";

const READS: readonly (readonly [path: string, status: number])[] = [
  ["/me/wide", 200],
  ["/me/wide/tree/main/d", 200],
  ["/me/wide/blob/main/d/b0000003", 200],
  [`/me/wide/commit/${main.oid}`, 200],
  ["/me/wide/compare/main...fork", 200],
  ["/me/wide/compare/ours...theirs", 200],
  ["/me/wide/blame/main/moved", 200],
  ["/me/wide/commits/main/moved?follow=1", 200],
  [`${API}/commits/${main.oid}`, 200],
  [`${API}/compare/main...fork`, 200],
  [`${API}/compare/main...fork?format=diff`, 413],
  [`${API}/blame/main/moved`, 200],
  [`${API}/log?ref=main&path=moved&follow=true`, 200],
  [`${API}/files?ref=main&path=d&lastCommit=true`, 200],
  [`${API}/languages?ref=main`, 200],
];

test.each(READS)("%s", async (path, status) => {
  const answer = await ask(path);
  expect([answer.status, answer.waited < BOUND_SECONDS ? 0 : answer.waited]).toEqual([status, 0]);
  expect(answer.body.length).toBeLessThan(MOST_BYTES);
});

const CHANGES: readonly (readonly [path: string, json: unknown])[] = [
  ["merge", { base: "main", head: "fork", message: "Merge", author: ADA }],
  ["cherry-pick", { branch: "main", commit: fork.oid, committer: ADA }],
  ["revert", { branch: "fork", commit: main.oid, author: ADA }],
  [
    "commits",
    {
      branch: "main",
      base: base.oid,
      message: "Change",
      author: ADA,
      operations: [{ op: "put", path: "text", content: "new\n" }],
    },
  ],
];

test.each(CHANGES)("%s: more paths than can be merged are counted before they are collected", async (route, json) => {
  const { status, body, waited } = await ask(`${API}/${route}`, json);
  expect([status, body]).toEqual([413, expect.stringContaining("merge (paths) exceeds the limit of 200000")]);
  expect(waited).toBeLessThan(BOUND_SECONDS);
});

const EDITS: readonly (readonly [path: string, json: object, tree: string])[] = [
  ["merge", { base: "ours", head: "theirs", author: ADA }, both.oid],
  ["cherry-pick", { branch: "ours", commit: "theirs", committer: ADA }, both.oid],
  ["revert", { branch: "theirs", commit: "theirs", author: ADA }, roots[0].oid],
];

test.each(EDITS)("%s: entries that are the same in wide directories do not count", async (route, json, tree) => {
  const { status, body, waited } = await ask(`${API}/${route}`, { ...json, dryRun: true });
  expect([status, JSON.parse(body)]).toMatchObject([200, { tree }]);
  expect(waited).toBeLessThan(BOUND_SECONDS);
});
