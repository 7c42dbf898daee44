import { beforeAll, describe, expect, test } from "vitest";
import { maskRefused, listFindings } from "../../../src/base/codec/fsck-messages.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";
import { encodePack, encodeTree, hashObject } from "../../harness/raw.ts";
import { checkObject } from "./fsck-module.ts";
import { fsckWithGit, mktagWithGit, type RawObject, type Verdict } from "./fsck-oracle.ts";

const OID = "1234567890123456789012345678901234567890";
// A separate id, because git remembers the type as which an id was first used.
const PARENT = "abcdefabcdefabcdefabcdefabcdefabcdefabcd";
const ZERO = "0".repeat(40);

const encodeEntries = (...entries: readonly (readonly [mode: string, name: string, oid?: string])[]): Buffer =>
  encodeTree(entries.map(([mode, name, oid = OID]) => ({ mode, name, oid })));

const AUTHOR = "author Ada <ada@example.com> 1700000000 +0100\n";
const COMMITTER = "committer Ada <ada@example.com> 1700000001 +0100\n";
const encodeCommit = (author: string, committer = COMMITTER, rest = "\nmessage\n"): string =>
  `tree ${OID}\nparent ${PARENT}\n${author}${committer}${rest}`;

/** A name, the bytes, and the findings. */
type Case = readonly [name: string, content: string | Uint8Array, ...findings: string[]];

const TREES: readonly Case[] = [
  [".", encodeEntries(["100644", "."]), "hasDot"],
  ["..", encodeEntries(["40000", ".."]), "hasDotdot"],
  ...[
    ".git",
    ".GIT",
    ".gIt",
    ".g\u200cit",
    "\ufeff.git",
    ".git\u206f",
    "git~1",
    "GIT~1",
    ".git ",
    ".git.",
    ".git . .",
    ".git::$INDEX_ALLOCATION",
    "a\\.git",
    "a\\git~1\\b",
    ".git\\config",
  ].map((name): Case => [JSON.stringify(name), encodeEntries(["40000", name]), "hasDotgit"]),
  ["slash in a name", encodeEntries(["100644", "a/b"]), "fullPathname"],
  [".git in a path", encodeEntries(["100644", ".git/config"]), "fullPathname", "hasDotgit"],
  ["empty name", encodeEntries(["100644", ""]), "badTree"],
  ["5,000-byte name", encodeEntries(["100644", "a".repeat(5000)]), "largePathname"],
  ["4,096-byte name", encodeEntries(["100644", "a".repeat(4096)])],
  ["duplicate", encodeEntries(["100644", "a"], ["100644", "a"]), "duplicateEntries"],
  ["file and directory of one name", encodeEntries(["100644", "a"], ["40000", "a"]), "duplicateEntries"],
  [
    "file and directory of one name, others between",
    encodeEntries(
      ["100644", "a"],
      ["100644", "a-"],
      ["100644", "a.b"],
      ["100644", "a.b.c"],
      ["40000", "a.b"],
      ["40000", "a"],
    ),
    "duplicateEntries",
  ],
  [
    "files and directories of nearly one name",
    encodeEntries(
      ["100644", "a"],
      ["100644", "a-"],
      ["40000", "a."],
      ["100644", "b"],
      ["100644", "b-"],
      ["40000", "c"],
    ),
  ],
  ["unsorted", encodeEntries(["100644", "b"], ["100644", "a"]), "treeNotSorted"],
  ["unsorted by the slash rule", encodeEntries(["40000", "a"], ["100644", "a.b"]), "treeNotSorted"],
  ["sorted by the slash rule", encodeEntries(["100644", "a.b"], ["40000", "a"], ["100644", "a0"])],
  ["zero-padded mode", encodeEntries(["040000", "a"]), "zeroPaddedFilemode"],
  ["non-octal mode", encodeEntries(["100648", "a"]), "badTree"],
  ["no mode", encodeEntries(["", "a"]), "badTree"],
  ["null oid", encodeEntries(["100644", "a", ZERO]), "nullSha1"],
  ["truncated", encodeEntries(["100644", "a"], ["100644", "b"]).subarray(0, -1), "badTree"],
  ["truncated to a few bytes", Buffer.from("100644 a"), "badTree"],
  ["malformed second entry", encodeEntries(["100644", "a"], ["x", "b"]), "badTree"],
  ["no NUL", Buffer.from(`100644 a${"x".repeat(40)}`), "badTree"],
  [".gitmodules is a symlink", encodeEntries(["120000", ".gitmodules"]), "gitmodulesSymlink"],
  ["gitmod~1 is a symlink", encodeEntries(["120000", "gitmod~1"]), "gitmodulesSymlink"],
  ["a\\.gitmodules is a symlink", encodeEntries(["120000", "a\\.gitmodules"]), "gitmodulesSymlink"],
  [".gitattributes is a symlink", encodeEntries(["120000", ".gitattributes"]), "gitattributesSymlink"],
  [".gitignore is a symlink", encodeEntries(["120000", ".gitignore"]), "gitignoreSymlink"],
  [".mailmap is a symlink", encodeEntries(["120000", ".mailmap"]), "mailmapSymlink"],
  ["mode 100664", encodeEntries(["100664", "a"]), "badFilemode"],
  ["mode 1", encodeEntries(["1", "a"]), "badFilemode"],
  ["non-UTF-8 name", Buffer.concat([Buffer.from("100644 \xff\xfe\0", "latin1"), Buffer.alloc(20, 1)])],
  ["newline in a name", encodeEntries(["100644", "a\nb"])],
  ["symlink", encodeEntries(["120000", "a"])],
  ["gitlink", encodeEntries(["160000", "a"])],
  ["empty tree", Buffer.alloc(0)],
];

const COMMITS: readonly Case[] = [
  ["well-formed", encodeCommit(AUTHOR)],
  ["no message", encodeCommit(AUTHOR, COMMITTER, "")],
  ["root, unknown headers", `tree ${OID}\n${AUTHOR}${COMMITTER}extra x\nmore\n\n`],
  ["64 KB signature", encodeCommit(AUTHOR, COMMITTER, `gpgsig x\n${` ${"y".repeat(63)}\n`.repeat(1024)}\nm\n`)],
  ["no author", encodeCommit(""), "missingAuthor"],
  ["no committer", encodeCommit(AUTHOR, ""), "missingCommitter"],
  ["two authors", encodeCommit(AUTHOR + AUTHOR), "multipleAuthors"],
  ["no tree", `${AUTHOR}${COMMITTER}\n`, "missingTree"],
  ["no email", encodeCommit("author Ada 1 +0000\n"), "missingEmail"],
  ["email unclosed", encodeCommit("author Ada <ada 1 +0000\n"), "badEmail"],
  ["< in a name", encodeCommit("author A<da <ada@x> 1 +0000\n"), "missingSpaceBeforeEmail"],
  ["> in a name", encodeCommit("author A>da <ada@x> 1 +0000\n"), "badName"],
  ["name missing", encodeCommit("author <ada@x> 1 +0000\n"), "missingNameBeforeEmail"],
  ["no space before email", encodeCommit("author Ada<ada@x> 1 +0000\n"), "missingSpaceBeforeEmail"],
  ["date zero-padded", encodeCommit("author Ada <ada@x> 01 +0000\n"), "zeroPaddedDate"],
  ["date overflowing", encodeCommit("author Ada <ada@x> 18446744073709551616 +0000\n"), "badDateOverflow"],
  ["date not a number", encodeCommit("author Ada <ada@x> x +0000\n"), "badDate"],
  ["date missing", encodeCommit("author Ada <ada@x> \n"), "badDate"],
  ["email closed twice", encodeCommit("author Ada <ada@x>> 1 +0000\n"), "missingSpaceBeforeDate"],
  ["bad time zone", encodeCommit("author Ada <ada@x> 1 +00\n"), "badTimezone"],
  ["no space before date", encodeCommit("author Ada <ada@x>1 +0000\n"), "missingSpaceBeforeDate"],
  [
    "a finding that passes does not hide the next",
    encodeCommit("author Ada <ada@x> 1 +00\n", "committer Ada <ada@x 1 +0000\n", "\n\0"),
    "badTimezone",
    "badEmail",
    "nulInCommit",
  ],
  ["NUL in header", encodeCommit(AUTHOR, `${COMMITTER}x\0y\n`), "nulInHeader"],
  ["NUL in body", encodeCommit(AUTHOR, COMMITTER, "\na\0b\n"), "nulInCommit"],
  ["unterminated", `tree ${OID}\n${AUTHOR}${COMMITTER.trimEnd()}`, "unterminatedHeader"],
  ["bad hex in tree", `tree ${OID.replace("9", "g")}\n${AUTHOR}${COMMITTER}\n`, "badTreeSha1"],
  ["long hex in tree", `tree ${OID}0\n${AUTHOR}${COMMITTER}\n`, "badTreeSha1"],
  ["bad hex in parent", `tree ${OID}\nparent ${PARENT.slice(1)}\n${AUTHOR}${COMMITTER}\n`, "badParentSha1"],
  ["empty", "", "unterminatedHeader"],
];

const TAGGER = "tagger Ada <ada@example.com> 1700000000 +0100\n";
const TAGS: readonly Case[] = [
  ["well-formed", `object ${OID}\ntype commit\ntag v1\n${TAGGER}\nmessage\n`],
  ["without tagger", `object ${OID}\ntype commit\ntag v1\n\nmessage\n`, "missingTaggerEntry"],
  ["odd name", `object ${OID}\ntype commit\ntag a..b~1\n${TAGGER}\n`, "badTagName"],
  ["extra header", `object ${OID}\ntype commit\ntag v1\n${TAGGER}x y\n\n`, "extraHeaderEntry"],
  ["64 KB signature", `object ${OID}\ntype commit\ntag v1\n${TAGGER}\n${"y".repeat(65_536)}\n`],
  ["without object", `type commit\ntag v1\n${TAGGER}\n`, "missingObject"],
  ["bad object", `object x\ntype commit\ntag v1\n${TAGGER}\n`, "badObjectSha1"],
  ["without type", `object ${OID}\ntag v1\n${TAGGER}\n`, "missingTypeEntry"],
  ["unknown type", `object ${OID}\ntype heap\ntag v1\n${TAGGER}\n`, "badType"],
  ["without name", `object ${OID}\ntype commit\n${TAGGER}\n`, "missingTagEntry"],
  ["bad tagger", `object ${OID}\ntype commit\ntag v1\ntagger Ada\n\n`, "missingEmail"],
  ["empty", "", "unterminatedHeader"],
];

const GITMODULES: readonly Case[] = [
  ["well-formed", '[submodule "a"]\n\tpath = a\n\turl = ../a.git\n\tupdate = none\n'],
  ["name ../", '[submodule "../x"]\nurl = x\n', "gitmodulesName"],
  ["name in the old form", "[submodule...]\nurl = x\n", "gitmodulesName"],
  ["empty name", '[submodule ""]\nurl\n', "gitmodulesName"],
  ["name without a key", '[submodule "../x"]\n'],
  ["url -u", '[submodule "a"]\nURL = -u\n', "gitmodulesUrl"],
  ["url %0a", '[submodule "a"]\nurl = "../%0a"\n', "gitmodulesUrl"],
  ["url newline", '[submodule "a"]\nurl = ./a\\nb\n', "gitmodulesUrl"],
  ["path -p", '[submodule "a"]\npath = "-p"\n', "gitmodulesPath"],
  ["update !", '[submodule "a"]\nupdate = !sh ; no\n', "gitmodulesUpdate"],
  ["continued value", '[submodule "a"] # x\r\n update = \\\r\n!sh', "gitmodulesUpdate"],
  [
    "a finding before what is no configuration",
    '[submodule "a"]\npath = -p\n?\nurl = -u\n',
    "gitmodulesPath",
    "gitmodulesParse",
  ],
  ["unclosed quote", '[submodule "a"]\npath = "a\n', "gitmodulesParse"],
];

const GITATTRIBUTES: readonly Case[] = [
  ["line of 2,047 bytes", `${"a".repeat(2047)}\nb`],
  ["line of 2,048 bytes", `x\n${"a".repeat(2048)}`, "gitattributesLineLength"],
];

const toObject = (
  type: RawObject["type"],
  [, content]: readonly [string, string | Uint8Array, ...string[]],
): RawObject => ({
  type,
  content: Buffer.from(content as string),
});

/** A blob, and a tree with its name. */
function toNamedBlob(name: string, one: Case): RawObject[] {
  const blob = toObject("blob", one);
  return [blob, { type: "tree", content: encodeEntries(["100644", name, hashObject("blob", blob.content)]) }];
}

describe.each([
  ["tree", TREES],
  ["commit", COMMITS],
  ["tag", TAGS],
] as const)("the fsck of a %s", (type, cases) => {
  let verdicts: ReadonlyMap<string, Verdict>;
  beforeAll(async () => {
    verdicts = await fsckWithGit(cases.map((one) => toObject(type, one)));
  });

  test.each(cases.map((one) => ({ name: one[0], one })))("$name", ({ one }) => {
    const { content } = toObject(type, one);
    const findings = one.slice(2);
    expect(new Set(checkObject(type, content).findings)).toEqual(new Set(findings));
    const verdict = verdicts.get(hashObject(type, content));
    if (verdict === "unparsable" || verdict === undefined) expect(findings).not.toEqual([]);
    // Git 2.39 has no limit for names.
    else expect(new Set([...verdict, ...findings.filter((id) => id === "largePathname")])).toEqual(new Set(findings));
  });
});

describe.each([
  [".gitmodules", "gitmodules", GITMODULES],
  [".gitattributes", "gitattributes", GITATTRIBUTES],
] as const)("the fsck of a %s", (name, subject, cases) => {
  let verdicts: ReadonlyMap<string, Verdict>;
  beforeAll(async () => {
    verdicts = await fsckWithGit(cases.flatMap((one) => toNamedBlob(name, one)));
  });

  test.each(cases.map((one) => ({ name: one[0], one })))("$name", ({ one }) => {
    const { content } = toObject("blob", one);
    expect(new Set(checkObject(subject, content).findings)).toEqual(new Set(one.slice(2)));
    expect(verdicts.get(hashObject("blob", content))).toEqual(new Set(one.slice(2)));
  });
});

describe("git index-pack --fsck-objects", () => {
  const packs = [
    ...TREES.map((one) => ({ one, objects: [toObject("tree", one)] })),
    ...COMMITS.map((one) => ({ one, objects: [toObject("commit", one)] })),
    ...TAGS.map((one) => ({ one, objects: [toObject("tag", one)] })),
    ...GITMODULES.map((one) => ({ one, objects: toNamedBlob(".gitmodules", one) })),
    ...GITATTRIBUTES.map((one) => ({ one, objects: toNamedBlob(".gitattributes", one) })),
  ];

  test("refuses what the strict setting refuses, and nothing else", async () => {
    const dir = await makeRepository("index-pack");
    const refused = new Set<string>(listFindings(maskRefused("strict")));
    for (const { one, objects } of packs) {
      const [name, , ...findings] = one;
      // Git before 2.43 has no limit for names.
      if (findings.includes("largePathname")) continue;
      const stdin = encodePack(objects);
      // oxlint-disable-next-line no-await-in-loop -- one process at a time
      const { code, stderr } = await tryGit(dir, ["index-pack", "--fsck-objects", "--stdin"], { stdin });
      expect(code !== 0, `${name}: ${stderr}`).toBe(findings.some((id) => refused.has(id)));
    }
  });
});

test("git mktag finds in tags what the module finds", async () => {
  const dir = await makeRepository("mktag");
  for (const one of TAGS)
    expect(await mktagWithGit(dir, toObject("tag", one).content), one[0]).toEqual(new Set(one.slice(2)));
});

describe("stricter than git", () => {
  const ATTACK = '[submodule "../x"]\nurl = x\n';
  test.each([
    ["behind a byte order mark", `\ufeff${ATTACK}`],
    ["behind a byte 0xff", Buffer.from(`#\xff\n${ATTACK}`, "latin1")],
    ["NUL in a name", '[submodule "a\0b"]\nurl = x\n'],
    ["name of 5,000 bytes", `[submodule "${"a".repeat(5000)}"]\nurl = x\n`],
  ])("%s", (_, content) => {
    expect(checkObject("gitmodules", Buffer.from(content as string)).findings).toEqual(["gitmodulesName"]);
  });

  test("no date, where git tells of a missing space only", () => {
    const content = encodeCommit("author Ada <ada@example.com>\n");
    expect(checkObject("commit", Buffer.from(content)).findings).toEqual(["badDate"]);
  });

  test("url of 5,000 bytes", () => {
    const content = `[submodule "a"]\nurl = https://example.com/${"a".repeat(5000)}\n`;
    expect(checkObject("gitmodules", Buffer.from(content)).findings).toEqual(["gitmodulesUrl"]);
  });
});

describe("what an object names", () => {
  test("a tree: subtrees and blobs, no gitlinks, and what has rules of its own", () => {
    const oids = Array.from({ length: 8 }, (_, index) => String(index + 1).repeat(40));
    const names = [".gitattributes", ".gitmodules", "dir", "exec", "file", "gitlink", "link", "odd"];
    const modes = ["100644", "100644", "40000", "100755", "100644", "160000", "120000", "100664"];
    const content = encodeEntries(
      ...names.map((name, index) => [modes[index] ?? "", name, oids[index] ?? ""] as const),
    );
    expect(checkObject("tree", content).named).toEqual([
      `blob ${oids[0]}`,
      `gitattributes ${oids[0]}`,
      `blob ${oids[1]}`,
      `gitmodules ${oids[1]}`,
      `tree ${oids[2]}`,
      `blob ${oids[3]}`,
      `blob ${oids[4]}`,
      `blob ${oids[6]}`,
      `blob ${oids[7]}`,
    ]);
  });

  test("a tree as .gitmodules is to be looked at too, so that it is found to be no blob", () => {
    const { named } = checkObject("tree", encodeEntries(["40000", ".gitmodules"]));
    expect(named).toEqual([`tree ${OID}`, `gitmodules ${OID}`]);
  });

  test("a commit: its tree, its parents, the committer's time", () => {
    const parents = ["a", "b"].map((digit) => digit.repeat(40));
    const content = `tree ${OID}\nparent ${parents[0]}\nparent ${parents[1]}\n${AUTHOR}${COMMITTER}\n`;
    const { named, commitTime } = checkObject("commit", Buffer.from(content));
    expect(named).toEqual([`tree ${OID}`, `commit ${parents[0]}`, `commit ${parents[1]}`]);
    expect(commitTime).toBe(1_700_000_001n);
  });

  test.each([
    ["committer Ada <ada@x>1700000001 +0000\n", 1_700_000_001n],
    ["committer Ada <a> b> 17\n", 17n],
    ["committer Ada\n", 0n],
    ["committer Ada <ada@x> 99999999999999999999 +0000\n", 2n ** 64n - 1n],
  ])("a committer's time, forgiving: %s", (committer, expected) => {
    expect(checkObject("commit", Buffer.from(encodeCommit(AUTHOR, committer))).commitTime).toBe(expected);
  });

  test("a tag: its target, of the type it declares", () => {
    for (const type of ["commit", "tree", "blob", "tag"]) {
      const content = Buffer.from(`object ${OID}\ntype ${type}\ntag v1\n${TAGGER}\n`);
      expect(checkObject("tag", content).named).toEqual([`${type} ${OID}`]);
    }
  });
});

test("every object on the list is refused by default, but for what old histories have", () => {
  const refused = new Set<string>(listFindings(maskRefused("default")));
  const passing = [...TREES, ...COMMITS, ...TAGS, ...GITMODULES, ...GITATTRIBUTES]
    .filter(([, , ...findings]) => findings.length > 0 && !findings.some((id) => refused.has(id)))
    .map(([name]) => name);
  expect(passing).toEqual(
    (
      "zero-padded mode|.gitattributes is a symlink|.gitignore is a symlink|.mailmap is a symlink|mode 100664|mode 1|" +
      "email closed twice|bad time zone|no space before date|without tagger|odd name|extra header|unclosed quote"
    ).split("|"),
  );
});
