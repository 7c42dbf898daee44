// The repository's fsck setting, which the push option `fsck=…` changes. @see git-fsck(1)
import { beforeAll, expect, test } from "vitest";
import { makeCommit, makeObject, makeTree, packOf, type MadeObject } from "../harness/pack-builder.ts";
import { type PushAnswer, sendPush } from "../harness/raw-push.ts";
import { shareServer } from "../harness/shared-server.ts";

const blob = makeObject("blob", "content\n");
const tree = makeTree(["100644", "file", blob]);

/** With a mode that old tools wrote. */
const paddedTree = makeTree(["0100644", "file", blob]);

function commitBy(author: string, message: string): MadeObject {
  const good = makeCommit(tree, [], message).content.toString();
  return makeObject("commit", good.replace(/^author .*$/m, `author ${author}`));
}

/** Common in old histories: passes unless the setting is strict. */
const oldZone = (message: string): MadeObject => commitBy("Ada Example <ada@example.com> 1700000000 +1", message);
/** A warning in git: passes only when the setting is lenient. */
const warned = (message: string): MadeObject => makeCommit(tree, [], `${message}\0\n`);
/** An error in git: never passes. */
const wrong = (message: string): MadeObject => commitBy("Ada Example ada@example.com 1700000000 +0100", message);

let url: string;
beforeAll(async () => {
  ({ url } = await shareServer("t5504-settings"));
});

function push(repository: string, name: string, commit: MadeObject, option?: string): Promise<PushAnswer> {
  return sendPush(`${url}/t5504-settings/${repository}`, {
    commands: [{ name: `refs/heads/${name}`, new: commit.oid }],
    pack: packOf(blob, tree, commit),
    ...(option === undefined
      ? {}
      : { capabilities: "report-status side-band-64k push-options", pushOptions: [option] }),
  });
}

test("what each setting lets in, and that it stays", async () => {
  const answers = async (setting: string): Promise<(string | null | undefined)[]> => {
    const repository = `set-${setting}`;
    await push(repository, "first", makeCommit(tree, [], `${setting}\n`), `fsck=${setting}`);
    const made = { oldZone, warned, wrong };
    const results = [];
    for (const [name, make] of Object.entries(made)) {
      const { unpack, refs } = await push(repository, name, make(`${setting} ${name}`));
      expect(refs.get(`refs/heads/${name}`) === null).toBe(unpack === "ok");
      results.push(/fails fsck: (\w+)/.exec(unpack)?.[1] ?? unpack);
    }
    return results;
  };
  expect(await answers("strict")).toEqual(["badTimezone", "nulInCommit", "missingEmail"]);
  expect(await answers("default")).toEqual(["ok", "nulInCommit", "missingEmail"]);
  expect(await answers("lenient")).toEqual(["ok", "ok", "missingEmail"]);
});

test("what common tools once wrote passes by default, and not where the setting is strict", async () => {
  const old: Readonly<Record<string, [id: string, objects: MadeObject[]]>> = {
    zone: ["badTimezone", [oldZone("old\n")]],
    date: ["missingSpaceBeforeDate", [commitBy("Ada Example <ada@example.com>1700000000 +0100", "old\n")]],
    mode: ["zeroPaddedFilemode", [paddedTree, makeCommit(paddedTree)]],
  };
  for (const [name, [id, objects]] of Object.entries(old)) {
    for (const setting of ["default", "strict"]) {
      const { unpack } = await sendPush(`${url}/t5504-settings/old-${name}-${setting}`, {
        commands: [{ name: "refs/heads/main", new: objects.at(-1)!.oid }],
        pack: packOf(blob, tree, ...objects),
        capabilities: "report-status side-band-64k push-options",
        pushOptions: [`fsck=${setting}`],
      });
      expect([name, setting, unpack]).toEqual([
        name,
        setting,
        setting === "default" ? "ok" : expect.stringContaining(id),
      ]);
    }
  }
});

test("a push that is refused changes no setting", async () => {
  await push("kept", "first", makeCommit(tree, [], "kept\n"));
  expect((await push("kept", "wrong", wrong("kept"), "fsck=lenient")).unpack).toMatch("missingEmail");
  expect((await push("kept", "warned", warned("kept"))).unpack).toMatch("nulInCommit");
});

test("a setting that does not exist is refused, and named", async () => {
  const { unpack, refs } = await push("named", "main", makeCommit(tree), "fsck=loose");
  expect(unpack).toBe("fsck=loose is not supported: choose strict, default or lenient");
  expect(refs.get("refs/heads/main")).toBe("unpacker error");
});

test("other push options change nothing", async () => {
  expect((await push("other", "main", makeCommit(tree), "ci.skip")).unpack).toBe("ok");
});
