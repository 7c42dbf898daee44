/** Tables of pushes, each sent to the real Worker and to git's own server. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "./api.ts";
import { git } from "./git.ts";
import { startNative, type NativeServer } from "./native.ts";
import { makeCommit, makeObject, makeTag, makeTree, packOf, type MadeObject } from "./pack-builder.ts";
import { decodeLines } from "./raw.ts";
import { type PushAnswer, type RawCommand, readRefs, sendPush } from "./raw-push.ts";
import type { Server } from "./server.ts";
import { shareServer } from "./shared-server.ts";
import { makeTempDir } from "./temp-dir.ts";
import { encodeRequest, post } from "./transcript.ts";

/** What a row may build on: three well-formed objects of its own, not pushed yet, on top of the
 * repository's contents. */
export interface Ground {
  readonly blob: MadeObject;
  readonly tree: MadeObject;
  readonly commit: MadeObject;
}

/** The repository's contents before the first row: `refs/heads/main` is at its commit. */
export const BASE = makeGround("base ".repeat(400), []);

/** A row's push. */
export interface TablePush {
  /** Without it, nothing follows the commands. */
  readonly pack?: Uint8Array;
  /** The id for a new branch; default: the ground's commit. */
  readonly tip?: string;
  /** Instead of creating a branch at `tip`. */
  readonly commands?: readonly RawCommand[];
  /** Capabilities besides `report-status side-band-64k`. */
  readonly capabilities?: string;
  /** Objects in the pack that must be inaccessible once it is refused; default: the ground's. */
  readonly objects?: readonly MadeObject[];
}

/** A push and the expected response. */
export interface PushRow {
  readonly name: string;
  readonly push: (ground: Ground, branch: string) => TablePush;
  /** For all refs of the push. */
  readonly answer: "accepted" | "refused";
  /** "ok" when only the refs are at fault. */
  readonly unpack?: "ok";
  /** Expected text of one of the reasons, for the pack or for a ref. */
  readonly reason?: RegExp;
  /** How git's own strict server responds if it differs. `either`: it is not asked, since that
   * depends on its version, or on how its pipes fill. */
  readonly git?: "accepts" | "refuses" | "either";
  /** Whether only the sweep sends it. */
  readonly isSwept?: boolean;
}

/** Leaves every third of many like rows to `npm test`, and the others to the sweep. */
export function everyThird<Row extends Partial<PushRow>>(rows: readonly Row[]): Row[] {
  return rows.map((row, i) => ({ ...row, isSwept: i % 3 > 0 }));
}

/** Declares one test per row. A refused push must move no ref, leave none of its objects fetchable,
 * readable or usable, and not prevent the next good push. */
export function testPushes(rows: readonly PushRow[]): void {
  let server: Pick<Server, "url">;
  let native: NativeServer;
  let url: string;
  let nativeUrl: string;
  const owner = `table-${++tables}`;
  beforeAll(async () => {
    const rootDir = makeTempDir("native-root");
    await git(rootDir, "init", "-q", "--bare", "repo.git");
    const repoDir = join(rootDir, "repo.git");
    for (const [key, value] of STRICT) await git(repoDir, "config", key, value);
    [server, native] = await Promise.all([shareServer(owner), startNative(rootDir)]);
    url = `${server.url}/${owner}/repo.git`;
    nativeUrl = `${native.url}/repo.git`;
    for (const remote of [url, nativeUrl])
      expect(isAccepted(await pushGround(remote, BASE, "refs/heads/main"))).toBe(true);
  });
  afterAll(() => native.close());

  rows.forEach((row, number) => {
    test(row.name, { tags: row.isSwept === true ? ["sweep"] : [] }, async () => {
      const ground = makeGround(`${row.name} ${number}`, [BASE.commit.oid]);
      const branch = `refs/heads/row-${number}`;
      const made = row.push(ground, branch);
      const push = {
        commands: made.commands ?? [{ name: branch, new: made.tip ?? ground.commit.oid }],
        capabilities: `report-status side-band-64k ${made.capabilities ?? ""}`,
        ...(made.pack === undefined ? {} : { pack: made.pack }),
      };
      const before = await readRefs(url);
      const answer = await sendPush(url, push);
      expectAnswer(row, answer);
      if (row.answer === "accepted") {
        expect(await readRefs(url)).toEqual(movedBy(push.commands, before));
      } else {
        expect(await readRefs(url)).toEqual(before);
        await expectUnreadable(server, owner, made.objects ?? [ground.blob, ground.tree, ground.commit]);
        const known = new Set(before.values());
        for (const { new: tip } of push.commands)
          if (tip !== undefined && !known.has(tip)) await expectUnfetchable(url, tip);
        expect(await pushGround(url, ground, `refs/heads/good-${number}`)).toMatchObject({ unpack: "ok" });
      }
      expect((await readRefs(url)).has(`refs/heads/good-${number}`)).toBe(row.answer !== "accepted");
      if (row.git !== "either") expectOfGit(row, await sendPush(nativeUrl, push));
    });
  });

  test("whatever was accepted can be cloned, and git finds every object", async () => {
    const dir = makeTempDir("clone");
    await git(dir, "clone", "-q", "--mirror", url, "clone.git");
    const clone = join(dir, "clone.git");
    const refs = await git(clone, "for-each-ref", "--format=%(refname) %(objectname)");
    const expected = [...(await readRefs(url))].map(
      ([name, oid]) => `${Buffer.from(name, "latin1").toString()} ${oid}`,
    );
    expect(refs.split("\n")).toEqual(expected);
    await git(clone, "fsck", "--connectivity-only");
  });
}

/** Git at its strictest: every pack goes through `index-pack --strict`. */
const STRICT = [
  ["receive.fsckObjects", "true"],
  ["receive.unpackLimit", "1"],
] as const;

/** Tables so far: each pushes to a repository of its own. */
let tables = 0;

function makeGround(seed: string, parents: readonly string[]): Ground {
  const blob = makeObject("blob", `${seed}\n`);
  const tree = makeTree(["100644", "file", blob]);
  return { blob, tree, commit: makeCommit(tree, parents) };
}

async function pushGround(url: string, { blob, tree, commit }: Ground, name: string): Promise<PushAnswer> {
  return sendPush(url, { commands: [{ name, new: commit.oid }], pack: packOf(blob, tree, commit) });
}

function isAccepted({ status, unpack, refs }: PushAnswer): boolean {
  return status === 200 && unpack === "ok" && refs.size > 0 && [...refs.values()].every((reason) => reason === null);
}

function expectAnswer(row: PushRow, { status, unpack, refs, text }: PushAnswer): void {
  const reasons = [...refs.values()];
  expect(status, text).toBe(200);
  expect(reasons.length).toBeGreaterThan(0);
  if (row.answer === "accepted") {
    expect([unpack, ...reasons]).toEqual(["ok", ...reasons.map(() => null)]);
    return;
  }
  for (const reason of reasons) expect(reason).toMatch(/./);
  if (row.unpack === "ok") expect(unpack).toBe("ok");
  if (row.reason !== undefined) expect(`${unpack}\n${reasons.join("\n")}`).toMatch(row.reason);
}

/** No object may be accessible: to a fetch, to the API, or as the target of a tag that is pushed
 * without it. */
async function expectUnreadable(
  server: Pick<Server, "url">,
  owner: string,
  objects: readonly MadeObject[],
): Promise<void> {
  if (objects.length === 0) return;
  const url = `${server.url}/${owner}/repo.git`;
  await Promise.all(
    objects.map(async ({ oid, type }) => {
      await expectUnfetchable(url, oid);
      expect(await askApi(server, `/repos/${owner}/repo/git/${type}/${oid}`)).toMatchObject({ status: 404 });
    }),
  );
  const tags = objects.map((object) => makeTag(object, object.type, "probe"));
  const commands = tags.map((tag, i) => ({ name: `refs/tags/probe-${i}`, new: tag.oid }));
  const { status, refs } = await sendPush(url, { commands, pack: packOf(...tags) });
  expect(status).toBe(200);
  expect(refs.size).toBe(tags.length);
  for (const [name, reason] of refs) expect(reason, name).toMatch(/./);
}

async function expectUnfetchable(url: string, oid: string): Promise<void> {
  const { body } = await post({ url }, encodeRequest("command=fetch", "delim", `want ${oid}`, "done", "flush"), 2);
  expect(decodeLines(body)).toEqual([`ERR upload-pack: not our ref ${oid}`]);
}

function movedBy(commands: readonly RawCommand[], before: ReadonlyMap<string, string>): Map<string, string> {
  const after = new Map(before);
  for (const { name, new: oid } of commands) {
    const key = Buffer.from(name as string).toString("latin1");
    if (oid === undefined) after.delete(key);
    else after.set(key, oid);
  }
  return after;
}

function expectOfGit(row: PushRow, answer: PushAnswer): void {
  const usual = row.answer === "accepted" ? "accepts" : "refuses";
  expect(isAccepted(answer) ? "accepts" : "refuses", `git: ${answer.unpack} ${answer.text}`).toBe(row.git ?? usual);
}
