import { expect, test } from "vitest";
import { decodeText, fromByteString, toByteString } from "../../../src/base/format/byte-string.ts";
import { type Commit, encodeCommit, parseCommit } from "../../../src/base/format/commit.ts";
import { parseIdent } from "../../../src/base/format/ident.ts";
import { fromHex, NULL_OID, toHex } from "../../../src/base/format/oid.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";

const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const PARENTS = ["1", "2", "3"].map((digit) => digit.repeat(40));
const IDENT = "A <a@b> 1 +0000";
const SIGNATURE = "-----BEGIN PGP SIGNATURE-----\n\niQEzBAAB\n\n=x\n-----END PGP SIGNATURE-----";
const MERGETAG = `object ${TREE}\ntype commit\ntag v1\ntagger ${IDENT}\n\nmerged`;

const ADA = { name: "Ada", email: "ada@example.com", timeSeconds: 1_700_000_000, zone: "-0330" };
const FULL: Commit = {
  tree: fromHex(TREE),
  parents: PARENTS.map(fromHex),
  author: ADA,
  committer: { ...ADA, name: "Gr\xe4ce" },
  extraHeaders: [
    { name: "encoding", value: "ISO-8859-1" },
    { name: "mergetag", value: MERGETAG },
    { name: "gpgsig", value: SIGNATURE },
    { name: "x-future", value: "one" },
  ],
  message: fromByteString("caf\xe9\n\nbody\n"),
};

test("what is encoded is what git accepts and reads, and parses back", async () => {
  const dir = await makeRepository("commits");
  const { stdout } = await tryGit(dir, ["hash-object", "--literally", "-t", "commit", "-w", "--stdin"], {
    stdin: encodeCommit(FULL),
  });
  const format = "%T%n%P%n%an%n%ae%n%at%n%ad%n%cn%n%e%n%B";
  const shown = await git(dir, "rev-list", "--no-walk", "--date=raw", `--format=${format}`, stdout.trim());
  expect(shown.split("\n").slice(1, 12)).toEqual([
    TREE,
    PARENTS.join(" "),
    "Ada",
    "ada@example.com",
    "1700000000",
    "1700000000 -0330",
    "Gräce",
    "ISO-8859-1",
    "café",
    "",
    "body",
  ]);
  expect(parseCommit(encodeCommit(FULL))).toEqual({ ...FULL, parentCount: 3, hasMoreHeaders: false });
});

test("git's own commits round-trip", async () => {
  const dir = await makeRepository("commits");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "root");
  await git(
    dir,
    "commit",
    "-q",
    "--allow-empty",
    "--allow-empty-message",
    "-m",
    "",
    "--author=Ünïcode <u@example.com>",
  );
  await git(dir, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "naïve");
  await git(dir, "checkout", "-q", "-b", "side", "HEAD~1");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "side", "-m", "with a body");
  const tag = `object ${await git(dir, "rev-parse", "HEAD")}\ntype commit\ntag v1\ntagger ${IDENT}\n\nsigned\n${SIGNATURE}\n`;
  await git(dir, "tag", "v1", (await tryGit(dir, ["mktag"], { stdin: tag })).stdout.trim());
  await git(dir, "checkout", "-q", "main");
  await git(dir, "merge", "-q", "--no-ff", "-m", "merge a signed tag", "v1");
  const oids = (await git(dir, "rev-list", "HEAD")).split("\n");
  expect(oids).toHaveLength(5);
  for (const oid of oids) {
    const content = (await tryGit(dir, ["cat-file", "commit", oid])).stdoutBytes;
    const commit = parseCommit(content);
    expect(Buffer.from(encodeCommit(commit)).equals(content)).toBe(true);
    expect(commit.parents.map((parent) => toHex(parent)).join(" ")).toBe(
      await git(dir, "show", "-s", "--format=%P", oid),
    );
    expect(decodeText(commit.author.name)).toBe(await git(dir, "show", "-s", "--format=%an", oid));
  }
  const merge = parseCommit((await tryGit(dir, ["cat-file", "commit", oids[0]!])).stdoutBytes);
  expect(merge.extraHeaders.map(({ name }) => name)).toEqual(["mergetag"]);
  expect(merge.extraHeaders[0]!.value).toBe(tag.trimEnd());
});

test("a commit without a message, with or without the blank line, has an empty one", () => {
  const head = `tree ${TREE}\nauthor ${IDENT}\ncommitter ${IDENT}\n`;
  for (const content of [head, `${head}\n`]) {
    const { message, extraHeaders } = parseCommit(fromByteString(content));
    expect(message).toHaveLength(0);
    expect(extraHeaders).toEqual([]);
  }
});

test.each([
  ["nothing", ""],
  ["a blank line first", `\ntree ${TREE}\nauthor ${IDENT}\ncommitter ${IDENT}\n\n`],
  ["a continuation first", ` x\ntree ${TREE}\nauthor ${IDENT}\ncommitter ${IDENT}\n\n`],
  ["no tree", `author ${IDENT}\ncommitter ${IDENT}\n\n`],
  ["a short tree", `tree ${TREE.slice(1)}\nauthor ${IDENT}\ncommitter ${IDENT}\n\n`],
  ["a tree that is not hex", `tree ${TREE.replace("4", "x")}\nauthor ${IDENT}\ncommitter ${IDENT}\n\n`],
  ["a bad parent", `tree ${TREE}\nparent x\nauthor ${IDENT}\ncommitter ${IDENT}\n\n`],
  ["no author", `tree ${TREE}\ncommitter ${IDENT}\n\n`],
  ["no committer", `tree ${TREE}\nauthor ${IDENT}\n\ncommitter ${IDENT}\n`],
  ["an author without an email", `tree ${TREE}\nauthor A\ncommitter ${IDENT}\n\n`],
])("a commit with %s is corrupt", (_, content) => {
  expect(() => parseCommit(fromByteString(content))).toThrow(
    expect.objectContaining({ code: "corrupt-object", data: expect.objectContaining({ type: "commit" }) }),
  );
});

test.each([
  ["A U Thor <a@b.c> 1700000000 +0100", "A U Thor", "a@b.c", 1_700_000_000, "+0100"],
  ["<a@b> 1 +0000", "", "a@b", 1, "+0000"],
  [" <> 1 +0000", "", "", 1, "+0000"],
  ["A<a@b>1 +0000", "A", "a@b", 1, "+0000"],
  ["A <a@b> 1 +1", "A", "a@b", 1, "+1"],
  ["A <a@b> 1", "A", "a@b", 1, "+0000"],
  ["A <a@b>", "A", "a@b", 0, "+0000"],
  ["A <a@b> yesterday", "A", "a@b", 0, "+0000"],
  ["A <a> b> 7 -0800", "A", "a", 7, "-0800"],
  ["A <a@b> 99999999999999999999 +0000", "A", "a@b", Number.MAX_SAFE_INTEGER, "+0000"],
  ["\xff\xfe <\xe9@b> 1 +0000", "\xff\xfe", "\xe9@b", 1, "+0000"],
])("reads the identity %j", (line, name, email, timeSeconds, zone) => {
  expect(parseIdent(line)).toEqual({ name, email, timeSeconds, zone });
});

test.each([
  { name: "A <B>" },
  { name: "A\nB" },
  { email: "a>b" },
  { email: "a\0b" },
  { timeSeconds: -1 },
  { timeSeconds: 1.5 },
  { zone: "Z" },
  { zone: "+01:00" },
])("refuses to write an identity with %j", (part) => {
  const commit = { ...FULL, tree: NULL_OID, committer: { ...ADA, ...part } };
  expect(() => encodeCommit(commit)).toThrow(expect.objectContaining({ code: "bad-request" }));
});

test("a parsed message is the content's own bytes", () => {
  const content = encodeCommit(FULL);
  expect(parseCommit(content).message.buffer).toBe(content.buffer);
  expect(toByteString(parseCommit(content).message)).toBe("caf\xe9\n\nbody\n");
});

test("reads ids in capital digits, which git's fsck lets pass", () => {
  const content = toByteString(encodeCommit({ ...FULL, parents: [fromHex("abcdef".repeat(7).slice(0, 40))] }));
  const capital = content.replace(
    /^(tree|parent) .*$/gm,
    (line, name: string) => name + line.slice(name.length).toUpperCase(),
  );
  expect(capital).not.toBe(content);
  expect(parseCommit(fromByteString(capital))).toEqual(parseCommit(fromByteString(content)));
});
