// Every line that the server writes is compared with git's own, to the byte, with or without its
// LF.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type NativeServer, startNative } from "../harness/native.ts";
import { decodePkts, decodeTexts, demux, type RawResponse, request } from "../harness/raw.ts";
import { encodePushHead, NULL_HEX, PUSH_TYPE, type RawPush } from "../harness/raw-push.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { packRevisions } from "../object/pushing.ts";

let origin = "";
let server: Pick<Server, "url">;
let native: NativeServer;
/** Ids by revision. */
const oids: Record<string, string> = {};

beforeAll(async () => {
  origin = await makeHistory({ commits: 12, files: 6, branches: 2, merges: 1, tags: 2 });
  for (const name of ["main", "main~1", "main~3", "side-0"]) oids[name] = await git(origin, "rev-parse", name);
  const root = makeTempDir("root");
  await git(root, "clone", "-q", "--mirror", origin, "full.git");
  await git(root, "init", "-q", "--bare", "empty.git");
  for (const name of ["full.git", "empty.git"]) {
    const dir = join(root, name);
    for (const setting of ["allowFilter", "allowTipSHA1InWant", "allowReachableSHA1InWant", "allowRefInWant"]) {
      await git(dir, "config", `uploadpack.${setting}`, "true");
    }
    await git(dir, "config", "transfer.advertiseObjectInfo", "true");
    await git(dir, "config", "receive.advertisePushOptions", "true");
  }
  [server, native] = await Promise.all([shareServer("t5551"), startNative(root)]);
  await git(origin, "push", "-q", "--mirror", `${server.url}/t5551/full.git`);
  await request(`${server.url}/api/repos`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ owner: "t5551", name: "empty" })),
  });
});
afterAll(() => native.close());

/** Sends the same to both and returns what both must have in common: neither the names of the
 * programs nor what only one of them offers. */
async function askBoth(
  path: string,
  options: Parameters<typeof request>[1],
  read: (body: Buffer) => unknown,
): Promise<unknown[]> {
  const responses = await Promise.all(
    [`${server.url}/t5551/${path}`, `${native.url}/${path}`].map((url) => request(url, options)),
  );
  return responses.map(({ status, headers, body }: RawResponse) => ({
    status,
    type: headers["content-type"],
    cache: headers["cache-control"],
    body: read(body),
  }));
}

const OWN_TO_HOLDFAST = / sideband-all(?=\n)|^bundle-uri\n$/;

function readAdvertisement(body: Buffer): string[] {
  const texts = decodeTexts(body).map((text) => text.replace(/agent=\S+/, "agent").replace(OWN_TO_HOLDFAST, ""));
  return texts.filter((text) => text !== "");
}

async function readBoth(path: string, version: number): Promise<unknown[]> {
  const headers: Record<string, string> = version === 0 ? {} : { "git-protocol": `version=${version}` };
  return askBoth(path, { headers }, readAdvertisement);
}

test.each([
  ["full.git", "git-upload-pack", 0],
  ["full.git", "git-upload-pack", 1],
  ["full.git", "git-upload-pack", 2],
  ["empty.git", "git-upload-pack", 2],
  ["full.git", "git-receive-pack", 0],
  ["full.git", "git-receive-pack", 1],
  ["empty.git", "git-receive-pack", 0],
  ["empty.git", "git-receive-pack", 1],
])("%s: the advertisement of %s, protocol v%i", async (name, service, version) => {
  const [ours, gits] = await readBoth(`${name}/info/refs?service=${service}`, version);
  expect(ours).toEqual(gits);
});

test.each([0, 1])("an empty repository's advertisement, protocol v%i: git's from 2.41 on", async (version) => {
  const [ours] = await readBoth("empty.git/info/refs?service=git-upload-pack", version);
  const [, full] = (await readBoth("full.git/info/refs?service=git-upload-pack", version)) as [
    unknown,
    { body: string[] },
  ];
  const first = full.body.findIndex((text) => text.includes("\0"));
  const capabilities = full.body[first]!.split("\0")[1]!.replace(/ symref=\S+/, "");
  const body = [...full.body.slice(0, first), `${NULL_HEX} capabilities^{}\0${capabilities}`, "flush"];
  expect(ours).toEqual({ ...full, body });
});

test("there is no version 2 of pushing: who asks for it gets version 0, with its first line, which git's server leaves out", async () => {
  const [two] = await readBoth("full.git/info/refs?service=git-receive-pack", 2);
  const [zero] = await readBoth("full.git/info/refs?service=git-receive-pack", 0);
  expect(two).toEqual(zero);
});

/** A report, without the messages to the user on band 2. */
function readReport(body: Buffer): unknown {
  const pkts = decodePkts(body);
  const isBanded = pkts.some((pkt) => typeof pkt !== "string" && pkt[0] === 1);
  return isBanded ? { report: decodeTexts(demux(pkts).data), end: pkts.at(-1) } : decodeTexts(body);
}

const STATUS = "report-status side-band-64k";

const PUSHES: [what: string, push: Omit<RawPush, "pack"> | ((id: (name: string) => string) => RawPush)][] = [
  ["a new branch", (id) => ({ commands: [{ name: "refs/heads/one", new: id("main~1") }] })],
  [
    "without side-band",
    (id) => ({ commands: [{ name: "refs/heads/two", new: id("main~1") }], capabilities: "report-status" }),
  ],
  ["without a report", (id) => ({ commands: [{ name: "refs/heads/three", new: id("main~1") }], capabilities: "" })],
  [
    "report-status-v2",
    (id) => ({
      commands: [{ name: "refs/heads/four", new: id("main~1") }],
      capabilities: "report-status-v2 side-band-64k",
    }),
  ],
  [
    "two refs, one of them no name",
    (id) => ({
      commands: [
        { name: "refs/heads/five", new: id("main~1") },
        { name: "refs/heads/a..b", new: id("main~1") },
      ],
      capabilities: STATUS,
    }),
  ],
  [
    "atomic, one of them no name",
    (id) => ({
      commands: [
        { name: "refs/heads/six", new: id("main~1") },
        { name: "refs/heads/a..b", new: id("main~1") },
      ],
      capabilities: `${STATUS} atomic`,
    }),
  ],
  ["a move", (id) => ({ commands: [{ name: "refs/heads/side-0", old: id("side-0"), new: id("main~1") }] })],
  ["a deletion", (id) => ({ commands: [{ name: "refs/heads/side-1", old: id("side-1") }] })],
  ["nothing", { commands: [] }],
];

test.each(PUSHES)("the answer to a push: %s", async (_, made) => {
  oids["side-1"] = await git(origin, "rev-parse", "side-1");
  const push = typeof made === "function" ? made((name) => oids[name]!) : made;
  const isDeletion = push.commands.every((command) => command.new === undefined);
  const pack = isDeletion ? Buffer.alloc(0) : await packRevisions(origin, [oids["main~1"]!]);
  const body = Buffer.concat([encodePushHead(push), pack]);
  const [ours, gits] = await askBoth(
    "full.git/git-receive-pack",
    { method: "POST", headers: PUSH_TYPE, body },
    readReport,
  );
  expect(ours).toEqual(gits);
});
