// Connections that end during a push: the push is applied completely or not at all, and can be
// repeated.
import { randomBytes } from "node:crypto";
import { request as sendRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect } from "vitest";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { encodePushHead, PUSH_TYPE, readRefs, sendPush } from "../harness/raw-push.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { testSome } from "../harness/sweep.ts";

let server: Pick<Server, "url">;
beforeAll(async () => {
  server = await shareServer("t5546");
});

/** Sends the beginning of a body with a Content-Length, then ends the connection. */
async function cut(url: string, body: Uint8Array, sentBytes: number): Promise<void> {
  const headers = { ...PUSH_TYPE, "content-length": body.length };
  const outgoing = sendRequest(`${url}/git-receive-pack`, { method: "POST", headers, agent: false });
  outgoing.on("error", () => undefined);
  await new Promise((sent) => outgoing.write(body.subarray(0, sentBytes), sent));
  await sleep(50);
  outgoing.destroy();
}

const SIZES: readonly (readonly [string, blobBytes: number])[] = [
  ["small", 10_000],
  ["large", 6_000_000],
];

testSome(1, SIZES, "a %s push, cut early, midway, late, and right behind its end", async ([size, blobBytes]) => {
  const url = `${server.url}/t5546/${size}.git`;
  const blob = makeObject("blob", randomBytes(blobBytes));
  const tree = makeTree(["100644", "file", blob]);
  const commit = makeCommit(tree);
  const push = { commands: [{ name: "refs/heads/main", new: commit.oid }], pack: packOf(blob, tree, commit) };
  const body = Buffer.concat([encodePushHead(push), push.pack]);
  for (const share of [0.01, 0.5, 0.99]) {
    await cut(url, body, Math.floor(body.length * share));
    expect((await readRefs(url)).size).toBe(0);
  }
  await cut(url, body, body.length);
  const there = (await readRefs(url)).size === 1;
  if (there)
    expect(
      (await sendPush(url, { ...push, commands: [{ ...push.commands[0]!, name: "refs/heads/again" }] })).unpack,
    ).toBe("ok");
  else expect((await sendPush(url, push)).unpack).toBe("ok");
  expect((await readRefs(url)).get("refs/heads/main")).toBe(commit.oid);
});
