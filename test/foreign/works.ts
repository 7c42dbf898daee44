/** Tests with clients that share no code with git. Each has a remote of its own, whose content
 * stock git makes and checks. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, listRefs, makeRepository } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** A Git client. Directories hold ordinary repositories with the remote `origin`. Every method
 * rejects when the client fails. */
export interface ForeignClient {
  /** Name and version. */
  readonly name: string;
  /** Clones `main`, with its tags. @param depth 0: the whole history */
  clone(url: string, dir: string, depth: number): Promise<void>;
  /** Changes the depth of a shallow clone. */
  deepen(dir: string, depth: number): Promise<void>;
  /** Brings `main` up to date with the remote. */
  pull(dir: string): Promise<void>;
  /** Pushes refs according to refspecs. */
  push(dir: string, ...refspecs: readonly string[]): Promise<void>;
}

/** One operation of clients.
 * @param url an empty remote that takes pushes
 * @throws Error when the client fails, or leaves another state than stock git would */
export interface Work {
  readonly name: string;
  readonly run: (client: ForeignClient, url: string) => Promise<void>;
}

/** Commits that are pulled one after another; the earlier clone has the rest. */
const PULLS = [1, 5, 100];

let history: Promise<string> | undefined;

/** A history with merges, both kinds of tags, and files that change often, so that packs are mostly
 * deltas. */
function makeOrigin(): Promise<string> {
  history ??= makeHistory({ commits: 130, files: 60, branches: 4, merges: 3, upheavals: 10, tags: 6 });
  return history;
}

/** Fills a remote, with `main` at a revision. */
async function fill(url: string, main: string): Promise<void> {
  const origin = await makeOrigin();
  await git(origin, "push", "-q", url, `${main}:refs/heads/main`, "refs/heads/side-0:refs/heads/side-0");
  if (main === "main") await git(origin, "push", "-q", "--tags", url);
}

async function listCommits(dir: string): Promise<string[]> {
  return (await git(dir, "rev-list", "HEAD")).split("\n").toSorted();
}

async function checkClone(dir: string, tip: string): Promise<void> {
  assert.equal(await git(dir, "rev-parse", "refs/heads/main"), tip);
  await git(dir, "fsck", "--full", "--strict", "--no-dangling");
}

/** Clones with the client, and compares the result with stock git's clone of the same depth. */
async function cloneBoth(client: ForeignClient, url: string, depth: number, then = depth): Promise<void> {
  await fill(url, "main");
  const dir = join(makeTempDir("foreign"), "clone");
  await client.clone(url, dir, depth);
  if (then !== depth) await client.deepen(dir, then);
  const stock = join(makeTempDir("stock"), "clone");
  await git(makeTempDir("cwd"), "clone", "-q", ...(then === 0 ? [] : [`--depth=${then}`]), url, stock);
  assert.deepEqual(await listCommits(dir), await listCommits(stock), "it has other commits than stock git");
  await checkClone(dir, await git(stock, "rev-parse", "HEAD"));
  if (then === 0) assert.equal(await listTags(dir), await listTags(stock));
}

function listTags(dir: string): Promise<string> {
  return git(dir, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags");
}

async function pull(client: ForeignClient, url: string): Promise<void> {
  const origin = await makeOrigin();
  const dir = join(makeTempDir("foreign"), "clone");
  let behind = PULLS.reduce((sum, commits) => sum + commits, 0);
  await fill(url, `main~${behind}`);
  await client.clone(url, dir, 0);
  for (const commits of PULLS) {
    behind -= commits;
    const tip = await git(origin, "rev-parse", `main~${behind}`);
    await git(origin, "push", "-q", url, `${tip}:refs/heads/main`);
    await client.pull(dir);
    await checkClone(dir, tip);
  }
}

/** A clone by the client, in which stock git makes commits. */
async function cloneToPush(client: ForeignClient, url: string): Promise<string> {
  await fill(url, "main");
  const dir = join(makeTempDir("foreign"), "clone");
  await client.clone(url, dir, 0);
  await git(dir, "reset", "-q", "--hard", "refs/heads/main");
  return dir;
}

async function commit(dir: string, message: string): Promise<string> {
  for (let i = 0; i < 20; i++) writeFileSync(join(dir, `pushed-${i}.txt`), `${message} ${i}\n`.repeat(30 + i));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", message);
  return git(dir, "rev-parse", "HEAD");
}

/** The content of the remote, as stock git sees it. */
async function readRemote(url: string): Promise<string> {
  const mirror = await makeRepository("mirror.git", "--bare");
  await git(mirror, "fetch", "-q", url, "+refs/*:refs/*");
  await git(mirror, "fsck", "--full", "--strict", "--no-dangling");
  return listRefs(mirror);
}

async function push(client: ForeignClient, url: string): Promise<void> {
  const dir = await cloneToPush(client, url);
  const before = await git(dir, "rev-parse", "HEAD");
  await commit(dir, "First");
  const second = await commit(dir, "Second");
  await client.push(dir, "refs/heads/main:refs/heads/main");
  await git(dir, "branch", "topic", "HEAD~1");
  await client.push(dir, "refs/heads/topic:refs/heads/topic");
  const refs = await readRemote(url);
  assert.match(refs, new RegExp(`^${second} refs/heads/main$`, "m"));
  assert.match(refs, /^[0-9a-f]{40} refs\/heads\/topic$/m);
  await git(dir, "reset", "-q", "--hard", before);
  const other = await commit(dir, "Other");
  await client.push(dir, "+refs/heads/main:refs/heads/main");
  assert.match(await readRemote(url), new RegExp(`^${other} refs/heads/main$`, "m"));
}

async function pushTags(client: ForeignClient, url: string): Promise<void> {
  const dir = await cloneToPush(client, url);
  await commit(dir, "Tagged");
  await git(dir, "tag", "-a", "-m", "Annotated", "noted");
  await git(dir, "tag", "light", "HEAD~2");
  await client.push(dir, "refs/tags/noted:refs/tags/noted");
  await client.push(dir, "refs/tags/light:refs/tags/light");
  const refs = await readRemote(url);
  for (const name of ["noted", "light"]) {
    assert.match(refs, new RegExp(`^${await git(dir, "rev-parse", `refs/tags/${name}`)} refs/tags/${name}$`, "m"));
  }
}

async function deleteRefs(client: ForeignClient, url: string): Promise<void> {
  const dir = await cloneToPush(client, url);
  // Some clients look up the name among their own refs.
  await git(dir, "update-ref", "refs/heads/side-0", "HEAD");
  await client.push(dir, ":refs/heads/side-0");
  await client.push(dir, ":refs/tags/v1");
  const refs = await readRemote(url);
  assert.doesNotMatch(refs, /side-0|refs\/tags\/v1$/m);
  assert.match(refs, /refs\/heads\/main$/m);
}

/** All works. */
export const WORKS: readonly Work[] = [
  { name: "clone", run: (client, url) => cloneBoth(client, url, 0) },
  ...[1, 2, 10].map((depth) => ({
    name: `shallow clone of depth ${depth}`,
    run: (client: ForeignClient, url: string) => cloneBoth(client, url, depth),
  })),
  { name: "deepen from 1 to 7", run: (client, url) => cloneBoth(client, url, 1, 7) },
  { name: `pull of ${PULLS.join(", ")} commits`, run: pull },
  { name: "push, also of a new branch and by force", run: push },
  { name: "push of tags", run: pushTags },
  { name: "deletion of a branch and a tag", run: deleteRefs },
];
