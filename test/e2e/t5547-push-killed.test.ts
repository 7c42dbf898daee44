// Processes that end during a push, as in a crash or a deployment, and pushes at the same time. An
// acknowledged push is stored; any other is applied completely or not at all, and can be repeated.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git } from "../harness/git.ts";
import { makeCommit, type MadeObject, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { Random } from "../harness/random.ts";
import { encodePushHead, type RawPush, readRefs, sendBody, sendPush } from "../harness/raw-push.ts";
import { startServer, type Server } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** The objects of a commit with an incompressible file, the commit last. */
function makeObjects(sizeBytes: number, parents: readonly string[] = []): MadeObject[] {
  const blob = makeObject("blob", randomBytes(sizeBytes));
  const tree = makeTree(["100644", "file", blob]);
  return [blob, tree, makeCommit(tree, parents)];
}

async function expectSoundClone(url: string): Promise<void> {
  const clone = join(makeTempDir("clone"), "clone.git");
  await git(makeTempDir("cwd"), "clone", "-q", "--mirror", url, clone);
  expect(await git(clone, "fsck", "--strict", "--full")).toBe("");
}

/** A push's body in two parts, with an action in between. */
async function* interrupted(body: Buffer, during: () => Promise<void>): AsyncGenerator<Buffer> {
  yield body.subarray(0, body.length / 2);
  await sleep(100);
  await during();
  yield body.subarray(body.length / 2);
}

test.each(["kill", "restart"] as const)(
  "a push during which the server is ended (%s)",
  { tags: "sweep" },
  async (ending) => {
    const url = `${server.url}/me/${ending}.git`;
    const objects = makeObjects(5_000_000);
    const push: RawPush = {
      commands: [{ name: "refs/heads/main", new: objects.at(-1)!.oid }],
      pack: packOf(...objects),
    };
    const body = Buffer.concat([encodePushHead(push), push.pack!]);
    let ended: Promise<void> | undefined;
    const during = (): Promise<void> => (ended = server[ending]());
    await expect(sendBody(url, interrupted(body, during))).rejects.toThrow();
    await ended;
    if (ending === "kill") await server.restart();
    expect((await readRefs(url)).size).toBe(0);
    expect((await sendPush(url, push)).refs.get("refs/heads/main")).toBeNull();
    await expectSoundClone(url);
  },
);

test("an atomic push of 100 refs, killed at any moment", { tags: "sweep" }, async () => {
  const random = new Random(1);
  for (let attempt = 0; attempt < 3; attempt++) {
    const url = `${server.url}/me/hundred-${attempt}.git`;
    const objects = makeObjects(1_000_000);
    const name = (i: number): string => `refs/heads/b${i}`;
    const push: RawPush = {
      commands: Array.from({ length: 100 }, (_, i) => ({ name: name(i), new: objects.at(-1)!.oid })),
      pack: packOf(...objects),
      capabilities: "report-status side-band-64k atomic",
    };
    const answer = sendPush(url, push).catch(() => null);
    await sleep(random.below(120));
    await server.kill();
    await server.restart();
    const answered = await answer;
    const { size } = await readRefs(url);
    expect([0, 100]).toContain(size);
    if (answered?.unpack === "ok") expect(size).toBe(100);
    if (size === 0) expect((await sendPush(url, push)).refs.get(name(99))).toBeNull();
    expect((await readRefs(url)).size).toBe(100);
    if (attempt === 2) await expectSoundClone(url);
  }
});

test("fifty pushes at once to fifty refs all pass; of two to one ref one does", { tags: "sweep" }, async () => {
  const url = `${server.url}/me/crowd.git`;
  const base = makeObjects(1_000);
  const baseOid = base.at(-1)!.oid;
  const main = "refs/heads/main";
  expect((await sendPush(url, { commands: [{ name: main, new: baseOid }], pack: packOf(...base) })).unpack).toBe("ok");
  const send = (name: string, old: string | undefined, objects: readonly MadeObject[]) =>
    sendPush(url, {
      commands: [{ name, new: objects.at(-1)!.oid, ...(old === undefined ? {} : { old }) }],
      pack: packOf(...objects),
    });
  const names = Array.from({ length: 50 }, (_, i) => `refs/heads/b${i}`);
  const rivals = [makeObjects(300_000, [baseOid]), makeObjects(10_000, [baseOid])];
  const [answers, contest] = await Promise.all([
    Promise.all(names.map((name, i) => send(name, undefined, makeObjects(i % 5 === 0 ? 300_000 : 1_000, [baseOid])))),
    Promise.all(rivals.map((objects) => send(main, baseOid, objects))),
  ]);
  expect(answers.map(({ refs }, i) => refs.get(names[i]!))).toEqual(names.map(() => null));
  const won = contest.findIndex(({ refs }) => refs.get(main) === null);
  expect(contest[1 - won]!.refs.get(main)).toEqual(expect.any(String));
  const refs = await readRefs(url);
  expect(refs.get(main)).toBe(rivals[won]!.at(-1)!.oid);
  expect([...refs.keys()].filter((name) => name.startsWith("refs/heads/b")).length).toBe(50);
  await expectSoundClone(url);
});
