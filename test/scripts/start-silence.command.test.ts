// What clients do wrong, or leave half done, is no news for whoever runs the server: nothing of it
// is in the log but events.
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { encodePushHead, PUSH_TYPE } from "../harness/raw-push.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { StartedServer } from "./started-server.ts";

/** A request, and what becomes of it. */
interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Bytes of the body after which the client is gone. */
  readonly abortAfter?: number;
  /** The client goes when the response begins. */
  readonly isCut?: boolean;
}

const PIECE_BYTES = 65_536;

/** Sends a request piece by piece, so that most refusals come before its end.
 * @returns the status, null: there was no response */
async function send(
  url: string,
  { method = "POST", path, headers = {}, body, abortAfter, isCut }: Sent,
): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const sent = request(`${url}${path}`, { method, headers, agent: false }, (response) => {
    const status = response.statusCode ?? null;
    response.on("error", () => resolve(status)).on("close", () => resolve(status));
    if (isCut === true) sent.destroy();
    else response.resume();
  });
  sent.on("error", () => resolve(null)).on("close", () => resolve(null));
  for (let at = 0; at < (body?.length ?? 0) && !sent.destroyed; at += PIECE_BYTES) {
    if (abortAfter !== undefined && at >= abortAfter) {
      sent.destroy();
      break;
    }
    sent.write(body!.subarray(at, at + PIECE_BYTES));
    await sleep(10);
  }
  sent.end();
  return promise;
}

const FETCH_TYPE = { "content-type": "application/x-git-upload-pack-request" };
const JSON_TYPE = { "content-type": "application/json" };
const BUNDLE_TYPE = { "content-type": "application/x-git-bundle" };

test("hostile pushes and requests that are broken off leave nothing in the log but events", async () => {
  const folder = makeTempDir("start");
  await using server = await new StartedServer("--port", "0", "--persist-to", folder, "--log-level", "info").ready();
  const blob = makeObject("blob", randomBytes(1_000_000));
  const tree = makeTree(["100644", "file", blob]);
  const commit = makeCommit(tree);
  const pack = packOf(blob, tree, commit);
  const flipped = Buffer.from(pack);
  flipped[100]! ^= 1;
  const head = (name: string, old?: string): Buffer =>
    encodePushHead({ commands: [{ name, new: commit.oid, ...(old !== undefined && { old }) }] });
  const push = (path: string, ...body: Uint8Array[]): Sent => ({
    path: `/me/${path}.git/git-receive-pack`,
    headers: PUSH_TYPE,
    body: Buffer.concat(body),
  });
  const noise = randomBytes(2_000_000);
  const good = push("repo", head("refs/heads/main"), pack);
  expect(await send(server.url, good)).toBe(200);

  const refused: Sent[] = [
    push("repo", head("refs/heads/noise"), noise),
    push("repo", head("refs/heads/flipped"), flipped),
    push("repo", head("refs/heads/main", "1".repeat(40)), pack),
    push("repo", head("refs/heads/a..b"), pack),
    push("repo", noise),
    push("unknown", noise),
    { ...push("repo", noise), method: "PUT" },
    { ...push("repo", noise), headers: { "content-type": "text/plain" } },
    { ...push("repo", noise), headers: { ...PUSH_TYPE, "content-encoding": "gzip" } },
    { ...push("repo", noise), headers: { ...PUSH_TYPE, "content-encoding": "br" } },
    push("..%2frepo", noise),
    { path: "/nowhere", body: noise },
    { path: "/me/repo.git/info/refs?service=git-upload-pack", body: noise },
    { path: "/me/repo.git/git-upload-pack", headers: FETCH_TYPE, body: noise },
    { path: "/me/unknown.git/git-upload-pack", headers: FETCH_TYPE, body: noise },
    { path: "/api/repos", headers: JSON_TYPE, body: noise },
    { path: "/api/repos", headers: { "content-type": "text/plain" }, body: noise },
    { path: "/api/repos/me/unknown/commits", headers: JSON_TYPE, body: noise },
    { path: "/api/repos/me/unknown", method: "DELETE", headers: JSON_TYPE, body: noise },
    { path: "/api/repos/me/repo/backup.bundle", method: "PUT", headers: BUNDLE_TYPE, body: noise },
    { path: "/api/repos/me/other/backup.bundle", method: "PUT", headers: BUNDLE_TYPE, body: noise },
  ];
  const want = Buffer.from(`0032want ${commit.oid}\n00000009done\n`);
  const left: Sent[] = [
    ...[0, 70_000, 700_000].flatMap((abortAfter) =>
      [good, ...refused].map(({ body, headers, ...rest }) => ({
        ...rest,
        body: body!,
        headers: { ...headers, "content-length": String(body!.length) },
        abortAfter,
      })),
    ),
    { ...push("cut", head("refs/heads/main"), pack), isCut: true },
    { path: "/me/repo.git/git-upload-pack", headers: FETCH_TYPE, body: want, isCut: true },
    { path: "/me/repo.git/git-upload-pack", headers: FETCH_TYPE, body: want, isCut: true },
    { path: "/api/repos/me/repo/archive/main.tar.gz", method: "GET", isCut: true },
    { path: "/api/repos/me/repo/raw/main/file", method: "GET", isCut: true },
    { path: "/api/repos/me/repo/backup.bundle", method: "GET", isCut: true },
  ];
  for (const one of [...refused, ...left]) expect((await send(server.url, one)) ?? 0, one.path).toBeLessThan(500);
  // It still serves, and what the last ones left is done.
  expect(await send(server.url, { path: "/healthz", method: "GET" })).toBe(200);
  await sleep(1_000);
  expect(server.stderr).toBe("");
  const [, log = ""] = /Ctrl-C ends it\.\n([^]*)/.exec(server.output)!;
  for (const line of log.trimEnd().split("\n")) expect(line).toMatch(/^\{"event":"/);
});
