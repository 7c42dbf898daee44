// Many refs, and long names: what a push of them costs, and which limits it meets.
import { beforeAll, expect, test } from "vitest";
import { type Answer, askApi } from "../harness/api.ts";
import { makeCommit, makeTree, packOf } from "../harness/pack-builder.ts";
import { NULL_HEX, type RawCommand, readRefs, sendPush } from "../harness/raw-push.ts";
import { type Server, startServer } from "../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../harness/shared-server.ts";

/** The quota of bytes that refs count towards, where that is tested. */
const MAX_BYTES = 1_000_000;

const tree = makeTree();
const commit = makeCommit(tree);
const child = makeCommit(tree, [commit.oid]);
const pack = packOf(tree, commit, child);

let server: Pick<Server, "url">;

const urlOf = (name: string): string => `${server.url.replace("://", `://git:${ADMIN_TOKEN}@`)}/${name}`;

function ask<Body>(path: string, init: { method?: string; json?: unknown } = {}): Promise<Answer<Body>> {
  return askApi<Body>(server, path, { ...init, headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } });
}

/** Names of so many bytes each. */
const names = (count: number, bytes: number, begin = "refs/heads/"): string[] =>
  Array.from({ length: count }, (_, i) => `${begin}${String(i).padStart(6, "0")}`.padEnd(bytes, "x"));

const creations = (all: readonly string[]): RawCommand[] => all.map((name) => ({ name, new: commit.oid }));
const moves = (all: readonly string[]): RawCommand[] => all.map((name) => ({ name, old: commit.oid, new: child.oid }));
const deletions = (all: readonly string[], old = commit.oid): RawCommand[] => all.map((name) => ({ name, old }));

/** The outcome of a push, and how many refs were refused. */
const push = (name: string, commands: readonly RawCommand[], sent = pack) => pushTo(urlOf(name), commands, sent);

async function pushTo(
  url: string,
  commands: readonly RawCommand[],
  sent = pack,
): Promise<[unpack: string, refused: number]> {
  const hasPack = commands.some((command) => command.new !== undefined && command.new !== NULL_HEX);
  const { status, unpack, refs, text } = await sendPush(url, { commands, ...(hasPack && { pack: sent }) });
  expect([status, text.slice(0, 200)]).toEqual([200, expect.anything()]);
  return [unpack, [...refs.values()].filter((error) => error !== null).length];
}

beforeAll(async () => {
  server = await shareServer("many", WITH_TOKENS);
});

test(
  "10,000 refs of 1,000 bytes go in by one push, are told in the log, and go by another",
  { tags: "sweep" },
  async () => {
    const all = names(10_000, 1_000);
    expect(await push("many/long", creations(all))).toEqual(["ok", 0]);
    expect([...(await readRefs(urlOf("many/long"))).keys()]).toEqual(all);
    const log = (await ask<{ pushes: { refCount: number; refs: { name: string }[] }[] }>("/repos/many/long/pushes"))
      .body;
    expect(log.pushes.map(({ refCount, refs }) => [refCount, refs.map(({ name }) => name)])).toEqual([
      [10_000, all.slice(0, 100)],
    ]);
    const last = `/repos/many/long/pushes?ref=${all.at(-1)!}`;
    expect((await ask<typeof log>(last)).body.pushes[0]!.refs.map(({ name }) => name)).toEqual(all.slice(-1));
    // All but HEAD's.
    expect(await push("many/long", deletions(all.slice(1)))).toEqual(["ok", 0]);
    expect([...(await readRefs(urlOf("many/long"))).keys()]).toEqual(all.slice(0, 1));
  },
);

test("50,000 refs of 1,000 bytes in one push are refused in words, and leave nothing", { tags: "sweep" }, async () => {
  const all = names(50_000, 1_000);
  const { status, text } = await sendPush(urlOf("many/too-long"), { commands: creations(all), pack });
  expect(status).toBe(413);
  expect(text).toMatch(
    /^what precedes the pack \(bytes\) exceeds the limit of 16777216 \(it is \d+\): push fewer refs at once\n$/,
  );
  expect((await ask("/repos/many/too-long")).status).toBe(404);
  // As many as fit make the repository, and the next as many are more than it may have.
  expect(await push("many/too-long", creations(all.slice(0, 15_000)))).toEqual(["ok", 0]);
  const [unpack, refused] = await push("many/too-long", creations(all.slice(15_000, 30_000)));
  expect(unpack).toContain("the repository's refs with this push (bytes of their names, and 40 for each) exceeds");
  expect(refused).toBe(15_000);
  expect((await readRefs(urlOf("many/too-long"))).size).toBe(15_000);
});

test(
  "a repository takes so many bytes of refs and no more; fewer are always let through",
  { tags: "sweep" },
  async () => {
    const small = await startServer({ vars: { LIMITS: JSON.stringify({ maxRefBytes: MAX_BYTES }) } });
    const send = (commands: readonly RawCommand[]) => pushTo(`${small.url}/many/full`, commands);
    try {
      const [first, second] = [names(500, 1_000), names(500, 1_000, "refs/tags/")];
      expect(await send(creations(first))).toEqual(["ok", 0]);
      expect(await send(creations(second))).toEqual([
        `the repository's refs with this push (bytes of their names, and 40 for each) exceeds the limit of ${MAX_BYTES} ` +
          `(it is ${1_000 * 1_040}): delete refs that nobody needs, or give them shorter names`,
        500,
      ]);
      expect((await readRefs(`${small.url}/many/full`)).size).toBe(500);
      expect(await send(creations(second.slice(0, 461)))).toEqual(["ok", 0]);
      const json = { target: commit.oid };
      const long = await askApi<{ error: unknown }>(small, `/repos/many/full/${names(1, 800)[0]!}`, {
        method: "PUT",
        json,
      });
      expect([long.status, long.body.error]).toEqual([413, expect.objectContaining({ code: "too-large" })]);
      expect(await send(moves(first))).toEqual(["ok", 0]);
      // As many bytes are removed as added.
      expect(
        await send([...deletions(first.slice(1, 400), child.oid), ...creations(names(399, 1_000, "refs/notes/"))]),
      ).toEqual(["ok", 0]);
      expect(await send(deletions(second.slice(0, 461)))).toEqual(["ok", 0]);
    } finally {
      await small.close();
    }
  },
);

test(
  "refs count towards a quota: with a byte left none is made, while others move and go",
  { tags: "sweep" },
  async () => {
    expect(await push("many/small", creations(names(3, 30)))).toEqual(["ok", 0]);
    const quota = "/repos/many/small/quota";
    await ask(quota, { method: "PUT", json: { maxBytes: 1, maxObjects: null } });
    const [unpack, refused] = await push("many/small", creations(names(76_000, 60, "refs/tags/")));
    expect(unpack).toMatch(
      /^the repository with this push \(bytes\) exceeds the limit of 1 .* that is the quota; \d+ are/,
    );
    expect(refused).toBe(76_000);
    // With an empty pack: the wanted objects exist.
    expect(await push("many/small", moves(names(2, 30)), packOf())).toEqual(["ok", 0]);
    expect(await push("many/small", deletions(names(3, 30).slice(2)))).toEqual(["ok", 0]);
    expect((await readRefs(urlOf("many/small"))).size).toBe(2);
    // An owner's quota holds too, whichever of the owner's repositories is used.
    await ask("/owners/he/quota", { method: "PUT", json: { maxBytes: 2_000_000, maxObjects: null } });
    expect(await push("he/one", creations(names(10_000, 100)))).toEqual(["ok", 0]);
    await expect
      .poll(async () => (await ask<{ sizeBytes: number }>("/owners/he/quota")).body.sizeBytes)
      .toBeGreaterThan(1_400_000);
    expect((await push("he/two", creations(names(10_000, 100))))[0]).toMatch(/^what the owner has with this push/);
    await ask("/owners/he/quota", { method: "PUT", json: { maxBytes: null, maxObjects: null } });
  },
);
