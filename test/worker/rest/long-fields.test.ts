import { beforeAll, expect, test } from "vitest";
import {
  MAX_LISTED_MESSAGE_BYTES,
  MAX_LISTED_NAME_BYTES,
  MAX_LISTED_PARENTS,
  MESSAGE_PART_BYTES,
} from "../../../src/base/format/shown-limits.ts";
import { askApi } from "../../harness/api.ts";
import { makeCommit, type MadeObject, makeObject, makeTree, packOf, PERSON } from "../../harness/pack-builder.ts";
import { sendPush } from "../../harness/raw-push.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

const REPO = "/repos/long/fields";
const PARENTS = 150;

/** Of three bytes a character, so that no limit falls between two. */
const MESSAGE = `subject\n\n${"…".repeat(300_000)}end\n`;
const NAME = "é".repeat(1_000);

interface Fields {
  readonly oid: string;
  readonly message: string;
  readonly messageTruncated?: boolean;
  readonly messageParts?: number;
  readonly parents: readonly string[];
  readonly parentsTruncated?: boolean;
  readonly author: { readonly name: string; readonly truncated?: boolean };
}

const tree = makeTree();
const roots = Array.from({ length: PARENTS }, (_, i) => makeCommit(tree, [], `${i}\n`));
const short = makeCommit(tree, [], "short\n");
const long = commitOf([short], { message: MESSAGE, author: `${NAME} <ada@example.com> 1700000000 +0100` });
const headers = commitOf([long], { headers: "x y\n".repeat(50_000), message: "behind headers\n" });
const merge = commitOf([headers, ...roots], { message: "many parents\n" });
const tag = makeObject("tag", `object ${merge.oid}\ntype commit\ntag v1\ntagger ${PERSON}\n\n${MESSAGE}`);

function commitOf(
  parents: readonly MadeObject[],
  { headers: more = "", message, author = PERSON }: { headers?: string; message: string; author?: string },
): MadeObject {
  const lines = parents.map(({ oid }) => `parent ${oid}\n`).join("");
  return makeObject("commit", `tree ${tree.oid}\n${lines}author ${author}\ncommitter ${PERSON}\n${more}\n${message}`);
}

let server: Pick<Server, "url">;
beforeAll(async () => {
  server = await shareServer("long");
  const commands = [
    { name: "refs/heads/main", new: merge.oid },
    { name: "refs/heads/base", new: short.oid },
    { name: "refs/tags/v1", new: tag.oid },
  ];
  const pack = packOf(tree, short, long, headers, ...roots, merge, tag);
  expect(await sendPush(`${server.url}/long/fields.git`, { commands, pack })).toMatchObject({ unpack: "ok" });
});

async function read<Body>(path: string): Promise<Body> {
  const { status, body } = await askApi<Body>(server, REPO + path);
  expect(status).toBe(200);
  return body;
}

const LISTS: Readonly<Record<string, () => Promise<readonly Fields[]>>> = {
  log: async () => (await read<{ commits: Fields[] }>("/log?firstParent=true")).commits,
  compare: async () => (await read<{ commits: Fields[] }>("/compare/base..main")).commits,
  events: async () => {
    interface Event {
      readonly type: string;
      readonly data: { readonly refs: readonly { readonly name: string; readonly commits: Fields[] }[] };
    }
    const { events } = await read<{ events: Event[] }>("/events?after=0");
    const { refs } = events.find(({ type }) => type === "push")!.data;
    return refs.find(({ name }) => name === "refs/heads/main")!.commits;
  },
};

test.each(["log", "compare"])("%s cuts messages, names and parents, and says so", async (list) => {
  const commits = await LISTS[list]!();
  const shown = commits.find(({ oid }) => oid === long.oid)!;
  expect(shown).toMatchObject({ messageTruncated: true, author: { truncated: true } });
  expect(MESSAGE.startsWith(shown.message)).toBe(true);
  expect(Buffer.byteLength(shown.message)).toBeGreaterThan(MAX_LISTED_MESSAGE_BYTES - 3);
  expect(Buffer.byteLength(shown.message)).toBeLessThanOrEqual(MAX_LISTED_MESSAGE_BYTES);
  expect(shown.author.name).toBe("é".repeat(Math.floor(MAX_LISTED_NAME_BYTES / 2)));
  const many = commits.find(({ oid }) => oid === merge.oid)!;
  expect(many).toMatchObject({ parentsTruncated: true, message: "many parents\n" });
  expect(many.parents).toHaveLength(MAX_LISTED_PARENTS);
  expect(many).not.toHaveProperty("messageTruncated");
  // Whole, although its headers are longer than a list reads of most commits.
  const behind = commits.find(({ oid }) => oid === headers.oid)!;
  expect(behind.message).toBe("behind headers\n");
});

test("events of a push with long messages can be read, and so can those that follow", async () => {
  const commits = await LISTS["events"]!();
  expect(commits.length).toBeGreaterThan(10);
  for (const { oid, messageTruncated } of commits) expect(messageTruncated ?? false).toBe(oid === long.oid);
});

test("tags cut their messages, and say so", async () => {
  const { tags } = await read<{ tags: Fields[] }>("/tags");
  expect(tags).toMatchObject([{ name: "v1", messageTruncated: true }]);
  expect(MESSAGE.startsWith(tags[0]!.message)).toBe(true);
});

const SINGLES = [`/commits/${long.oid}`, `/git/commit/${long.oid}`, "/tags/v1", `/git/tag/${tag.oid}`];

test.each(SINGLES)("%s has all of the message, in parts", async (path) => {
  const first = await read<Fields>(path);
  expect(first).toMatchObject({
    messageTruncated: true,
    messageParts: Math.ceil(Buffer.byteLength(MESSAGE) / MESSAGE_PART_BYTES),
  });
  const parts = [first.message];
  for (let part = 2; part <= first.messageParts!; part++)
    parts.push((await read<Fields>(`${path}?part=${part}`)).message);
  expect(parts.join("")).toBe(MESSAGE);
  const beyond = await askApi(server, `${REPO}${path}?part=${parts.length + 1}`);
  expect(beyond).toMatchObject({ status: 422, body: { error: { field: "part" } } });
});

test("a single commit has whole names and parents", async () => {
  expect((await read<Fields>(`/git/commit/${long.oid}`)).author).toEqual({
    name: NAME,
    email: "ada@example.com",
    date: "2023-11-14T23:13:20+01:00",
  });
  expect((await read<Fields>(`/commits/${merge.oid}`)).parents).toHaveLength(PARENTS + 1);
});

test("pages show the beginning, and lead to the rest", async () => {
  const page = async (path: string): Promise<string> => {
    const response = await fetch(`${server.url}/long/fields/${path}`);
    expect(response.status).toBe(200);
    return response.text();
  };
  expect(await page("tags")).toContain('href="/long/fields/tag/v1"');
  expect(await page("tag/v1")).toContain('href="/long/fields/tag/v1?part=2"');
  expect(await page(`commit/${long.oid}?part=3`)).toContain(`href="/long/fields/commit/${long.oid}?part=4"`);
  for (const path of ["commits/main", "feed/commits/main.atom", "feed/tags.atom", "branches"])
    expect((await page(path)).length).toBeLessThan(200_000);
  const mail = await fetch(`${server.url}/long/fields/commit/${long.oid}.patch`);
  expect(mail.status).toBe(413);
  expect(await mail.text()).toContain(".diff");
});
