/** Notes of commits: what `git notes` writes is on the commits' pages, as text. */
import { beforeAll, expect, test } from "vitest";
import { MAX_NOTE_BYTES } from "../../../src/object/pages/commit-notes.ts";
import { NOTES_REF } from "../../../src/contract/pages.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

const COMMITS = 300;
let server: Pick<Server, "url">;
let dir: string;
/** All commits, the oldest first. */
let ids: string[];

beforeAll(async () => {
  server = await shareServer("noted");
  dir = await makeRepository("noted");
  const commits = Array.from({ length: COMMITS }, (_, i) => {
    const when = `Ada <ada@example.com> ${1_700_000_000 + i} +0000`;
    return `commit refs/heads/main\nmark :${i + 1}\ncommitter ${when}\ndata <<.\nCommit ${i}\n.\n`;
  });
  await feed("fast-import", commits.join("\n"), "--quiet");
  ids = (await git(dir, "rev-list", "--reverse", "main")).trim().split("\n");
  await git(dir, "push", "-q", `${server.url}/noted/repo`, "main");
});

/** Runs a command of git with something to read. @returns what it writes */
async function feed(command: string, stdin: string | Buffer, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await tryGit(dir, [command, ...args], { stdin: Buffer.from(stdin) });
  if (code !== 0) throw new Error(`git ${command} ended with ${code}:\n${stderr}`);
  return stdout.trim();
}

const blob = (content: string | Buffer) => feed("hash-object", content, "-w", "--stdin");

/** Makes a tree of entries as `git ls-tree` writes them. */
const tree = (...entries: string[]) => feed("mktree", entries.map((entry) => `${entry}\n`).join(""));

/** Makes a tree, a commit or a file the notes, and pushes them. */
async function publish(oid?: string): Promise<void> {
  if (oid !== undefined) await git(dir, "update-ref", NOTES_REF, oid);
  await git(dir, "push", "-q", "-f", `${server.url}/noted/repo`, NOTES_REF);
}

const look = (commit: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/noted/repo/commit/${commit}`, { headers: { Accept: "text/html", ...headers } });

/** The section of notes on a commit's page; null: there is none. */
async function notesOf(commit: string): Promise<string | null> {
  const response = await look(commit);
  expect(response.status).toBe(200);
  return /<h3 id="notes">Notes<\/h3>(.*?)<\/section>/s.exec(await response.text())?.[1] ?? null;
}

const shown = (...texts: string[]) => texts.map((text) => `<pre class="plain" dir="auto">${text}</pre>`).join("");

test("a note is shown when it is there, as text, and a page that a browser has is sent again", async () => {
  const [first, second] = ids as [string, string];
  expect(await notesOf(first)).toBeNull();
  const before = (await look(first)).headers.get("ETag")!;
  const other = (await look(second)).headers.get("ETag")!;
  await git(dir, "notes", "add", "-m", `Seen <script>alert(1)</script> \u202e\n\nby "me"`, first);
  await publish();
  expect(await notesOf(first)).toBe(
    shown("Seen &lt;script&gt;alert(1)&lt;/script&gt; [U+202E]\n\nby &quot;me&quot;\n"),
  );
  expect((await look(first, { "If-None-Match": before })).status).toBe(200);
  const after = (await look(first)).headers.get("ETag")!;
  expect((await look(first, { "If-None-Match": after })).status).toBe(304);
  // Nothing has changed of another commit.
  expect((await look(second, { "If-None-Match": other })).status).toBe(304);
  // As `git format-patch` writes it.
  expect(await (await look(`${first}.patch`)).text()).not.toContain("Seen");
  await git(dir, "notes", "remove", first);
  await publish();
  expect(await notesOf(first)).toBeNull();
});

test("notes of hundreds of commits, in directories as git makes them", async () => {
  const notes = ids.map((id, i) => `N inline ${id}\ndata <<.\nNote ${i}\n.\n`).join("");
  const when = "committer Ada <ada@example.com> 1700000000 +0000\ndata 0\n";
  await feed("fast-import", `commit ${NOTES_REF}\n${when}${notes}`, "--quiet", "--force");
  expect(await git(dir, "ls-tree", "-r", "--name-only", NOTES_REF)).toMatch(/^[0-9a-f]{2}\/[0-9a-f]{38}\n/);
  await publish();
  for (let i = 0; i < COMMITS; i += 97) {
    expect(await git(dir, "notes", "show", ids[i]!)).toBe(`Note ${i}`);
    expect(await notesOf(ids[i]!)).toBe(shown(`Note ${i}\n`));
  }
});

test("a note that is no UTF-8 is shown as far as it is text; a large one can be downloaded", async () => {
  const [latin, huge, limit] = ids as [string, string, string];
  const large = Buffer.alloc(MAX_NOTE_BYTES + 1, "<");
  await publish(
    await tree(
      `100644 blob ${await blob(Buffer.from("caf\xe9 \0 </pre>\n", "latin1"))}\t${latin}`,
      `100644 blob ${await blob(large)}\t${huge.slice(0, 2)}${huge.slice(2)}`,
      `100644 blob ${await blob(large.subarray(1))}\t${limit}`,
    ),
  );
  expect(await notesOf(latin)).toBe(shown("caf\ufffd ␀ &lt;/pre&gt;\n"));
  expect(await notesOf(limit)).toBe(shown("&lt;".repeat(MAX_NOTE_BYTES)));
  await publish(await feed("commit-tree", "", await git(dir, "rev-parse", `${NOTES_REF}^{tree}`)));
  const html = (await notesOf(huge))!;
  expect(html).toContain("Too large to be shown here.");
  const raw = await fetch(server.url + /href="([^"]+)"/.exec(html)![1]!);
  expect(Buffer.compare(Buffer.from(await raw.arrayBuffer()), large)).toBe(0);
});

test("several notes of a commit are shown in the order in which git joins them", async () => {
  const [id] = ids as [string];
  const [one, two, three] = await Promise.all(["one\n", "two\n", "three\n"].map(blob));
  const deep = await tree(`100644 blob ${three}\t${id.slice(4)}`);
  const below = await tree(`100644 blob ${two}\t${id.slice(2)}`, `040000 tree ${deep}\t${id.slice(2, 4)}`);
  await publish(await tree(`100644 blob ${one}\t${id}`, `040000 tree ${below}\t${id.slice(0, 2)}`));
  expect(await git(dir, "notes", "show", id)).toBe("three\n\ntwo\n\none");
  expect(await notesOf(id)).toBe(shown("three\n", "two\n", "one\n"));
});

test("what is no note is none, and a page is shown whatever the notes' ref leads to", async () => {
  const [id, other] = ids as [string, string];
  const text = await blob("text\n");
  const below = await tree(`100644 blob ${text}\tfile`);
  const odd = [
    text,
    await tree(
      `040000 tree ${below}\t${id}`,
      `100644 blob ${text}\t${id.slice(0, 2)}`,
      `120000 blob ${text}\t${other}`,
      `160000 commit ${id}\t${other.slice(0, 2)}`,
      `100644 blob ${text}\t${other.slice(0, 39)}`,
    ),
  ];
  for (const oid of odd) {
    await publish(oid);
    for (const commit of [id, other]) expect(await notesOf(commit)).toBeNull();
  }
  // A directory for each pair of digits, down to the last.
  let deep = await tree(`100644 blob ${text}\t${id.slice(38)}`);
  for (let at = 36; at >= 0; at -= 2) deep = await tree(`040000 tree ${deep}\t${id.slice(at, at + 2)}`);
  await publish(deep);
  expect(await notesOf(id)).toBe(shown("text\n"));
});

test("a directory of notes that is too large is not read, and the page says so", { tags: "sweep" }, async () => {
  const text = await blob("text\n");
  const names = Array.from({ length: 20_000 }, (_, i) => `100644 blob ${text}\t${`${i}`.padStart(40, "0")}`);
  await publish(await tree(...names, `100644 blob ${text}\t${ids[0]}`));
  expect(await notesOf(ids[0]!)).toBe("<p>The directory of the notes is too large to be searched.</p>");
});
