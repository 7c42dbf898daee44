/** The module compared with git on random objects, from a fixed seed. */
import { expect, test } from "vitest";
import { makeRepository } from "../../harness/git.ts";
import { hashObject } from "../../harness/raw.ts";
import { checkObject } from "./fsck-module.ts";
import { fsckWithGit, mktagWithGit, type RawObject } from "./fsck-oracle.ts";

/** Random numbers that are the same in every run (mulberry32). */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** An integer from 0 to `count` - 1. */
  roll(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.roll(choices.length)];
    if (choice === undefined) throw new Error("nothing to pick from");
    return choice;
  }

  /** From `least` to `most` picks, concatenated. */
  string(choices: readonly string[], least: number, most: number): string {
    return Array.from({ length: least + this.roll(most - least + 1) }, () => this.pick(choices)).join("");
  }

  oid(): Buffer {
    return Buffer.from(Array.from({ length: 20 }, () => this.roll(256)));
  }
}

/** Deletes, duplicates, replaces or inserts a few bytes. */
function mutate(dice: Dice, content: Buffer, alphabet: string): Buffer {
  let mutated = content;
  for (let count = 1 + dice.roll(3); count > 0; count--) {
    const at = dice.roll(mutated.length + 1);
    const until = at + dice.roll(dice.roll(4) === 0 ? 60 : 2);
    const byte = Buffer.from(alphabet[dice.roll(alphabet.length)] ?? "", "latin1");
    const middle = dice.pick([
      Buffer.alloc(0),
      byte,
      Buffer.concat([mutated.subarray(at, until), mutated.subarray(at, until)]),
    ]);
    mutated = Buffer.concat([mutated.subarray(0, at), middle, mutated.subarray(until)]);
  }
  return mutated;
}

/** Compares the module's findings with git's. For an object that git cannot parse, there must be a
 * finding here.
 * @param settle drops the findings in which both may differ
 * @returns how many objects git did parse, and how many different sets of findings occurred */
async function compare(
  objects: readonly RawObject[],
  settle: (findings: ReadonlySet<string>, content: Uint8Array) => Iterable<string> = (findings) => findings,
): Promise<{ parsed: number; kinds: number }> {
  const verdicts = await fsckWithGit(objects);
  let parsed = 0;
  const kinds = new Set<string>();
  for (const { type, content } of objects) {
    const ours = new Set<string>(checkObject(type, content).findings);
    const verdict = verdicts.get(hashObject(type, content));
    const shown = `${type} ${JSON.stringify(Buffer.from(content).toString("latin1"))}`;
    if (verdict === "unparsable" || verdict === undefined) {
      expect(ours.size, shown).toBeGreaterThan(0);
      continue;
    }
    parsed++;
    kinds.add([...ours].toSorted().join());
    expect(new Set(settle(ours, content)), shown).toEqual(new Set(settle(verdict, content)));
  }
  return { parsed, kinds: kinds.size };
}

const MODES = ["100644", "100644", "100755", "40000", "40000", "120000", "160000"];
const ODD_MODES = ["040000", "100664", "100600", "0", "1", "777777", "300644", "100648", "", "100644 "];
const STEMS = ["a", "b", "a.", "a-", "a.b", "a0", "foo", "foo.bar", "foo.bar.baz", "foo-", "\xe9", "z\n"];
const NAME_PARTS = [
  ...". . git GIT Git gi t modules attributes ignore mailmap gitmod gitatt mailma x".split(" "),
  ...String.raw`~1 ~4 ~9 ~ 1 23 000 gi7eba gi7d29 gi250a maba30 \ / : ::$INDEX_ALLOCATION`.split(" "),
  ..." |. |\u200c|\ufeff|\u206f|\u2010|\ufffe|\u00e9".split("|"),
];
const DISGUISES = (
  ".git git~1 GIT~1 .GitModules gitmod~3 gi7eba~2 gi7~1234 .gitattributes gitatt~1 gi7d2~39 " +
  ".gitignore gitign~4 gi250a~1 .mailmap mailma~2 maba30~1"
).split(" ");
const BYTES = ["", "", "", "\xff", "\xc0\x80", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xef\xbf\xbe"];

const encodeEntry = (dice: Dice, mode: string, name: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${mode} `), name, Buffer.alloc(1), dice.oid()]);

test("names pieced together from what file systems confuse", { tags: "sweep" }, async () => {
  const dice = new Dice(1);
  const trees = Array.from({ length: 3000 }, (): RawObject => {
    // A third is a disguise with something inside, a third is a disguise with something around it,
    // a third is random.
    const disguise = dice.pick(DISGUISES);
    const at = dice.roll(disguise.length + 1);
    const name = Buffer.concat([
      Buffer.from(
        dice.pick([
          disguise.slice(0, at) + dice.pick(NAME_PARTS) + disguise.slice(at),
          dice.string(NAME_PARTS, 0, 1) + disguise,
          dice.string(NAME_PARTS, 1, 4),
        ]),
      ),
      Buffer.from(dice.pick(BYTES), "latin1"),
      Buffer.from(dice.string(NAME_PARTS, 0, 1)),
    ]);
    return { type: "tree", content: encodeEntry(dice, dice.pick(["100644", "120000", "40000"]), name) };
  });
  const { parsed, kinds } = await compare(trees);
  expect(parsed).toBe(3000);
  expect(kinds).toBeGreaterThan(8);
});

test("every blob that git would check as .gitmodules or .gitattributes, and no other", async () => {
  const dice = new Dice(2);
  const trees = Array.from({ length: 800 }, (): RawObject => {
    const dot = dice.pick([".gitmodules", "gitmod~1", "a\\.gitmodules", ".gitattributes", "gi7d29~7", ".GITMODULES"]);
    const name = Buffer.from(dot + dice.string(NAME_PARTS, 0, 1));
    return { type: "tree", content: encodeEntry(dice, dice.pick(["100644", "160000", "40000"]), name) };
  });
  const verdicts = await fsckWithGit(trees);
  // The blobs are missing, which git reports for each that it would check.
  const gits = [...verdicts].flatMap(([oid, verdict]) =>
    verdict === "unparsable" ? [] : [...verdict].filter((id) => id.endsWith("Missing")).map((id) => `${id} ${oid}`),
  );
  const named = trees.flatMap(({ content }) => checkObject("tree", content).named);
  const ours = named.filter((one) => one.startsWith("git")).map((one) => one.replace(" ", "Missing "));
  expect(gits.length).toBeGreaterThan(300);
  expect(new Set(gits)).toEqual(new Set(ours));
});

test("trees in and out of order, of good and odd entries, whole and damaged", { tags: "sweep" }, async () => {
  const dice = new Dice(3);
  const trees = Array.from({ length: 2500 }, (): RawObject => {
    const entries = Array.from({ length: 1 + dice.roll(8) }, () => ({
      mode: dice.roll(20) === 0 ? dice.pick(ODD_MODES) : dice.pick(MODES),
      name: Buffer.from(dice.roll(20) === 0 ? dice.string(NAME_PARTS, 0, 2) : dice.string(STEMS, 1, 2), "latin1"),
    }));
    const keyOf = ({ mode, name }: (typeof entries)[number]): Buffer =>
      Buffer.concat([name, Buffer.from(mode.endsWith("40000") ? "/" : "\0")]);
    if (dice.roll(8) !== 0) entries.sort((a, b) => Buffer.compare(keyOf(a), keyOf(b)));
    let content = Buffer.concat(entries.map(({ mode, name }) => encodeEntry(dice, mode, name)));
    if (dice.roll(6) === 0) content = mutate(dice, content, "\0 /.g0147\xff");
    return { type: "tree", content };
  });
  const { parsed, kinds } = await compare(trees, (findings) => {
    // In an unsorted tree, git's search for duplicates finds some that this one does not, and the
    // reverse. And git ignores the mode and the order of the entry before a malformed one.
    const settled = ["duplicateEntries"];
    if (findings.has("badTree")) settled.push("treeNotSorted", "badFilemode");
    else if (!findings.has("treeNotSorted")) return findings;
    return [...findings].filter((id) => !settled.includes(id));
  });
  expect(parsed).toBe(2500);
  expect(kinds).toBeGreaterThan(30);
});

/** Whether the module differs on purpose, or from an old git. Without a date the module misses more
 * than a space. Git before 2.40 reads a date as strtoumax does, with any white space and a sign
 * before it. */
const isOtherDate = (content: Uint8Array): boolean =>
  />\s+[\s+-]|>[^ \d][^\d\n]*\n|>\n/.test(Buffer.from(content).toString("latin1"));

const TEXT_BYTES = "\0\n\n <>+-0159aZ\t\r\xff";

test("commits with lines lost, doubled, swapped and damaged", async () => {
  const dice = new Dice(4);
  const person = (): string =>
    dice.pick(["A B <a@b> ", "A <> ", "<a@b> ", "A<a> ", "A > <a> ", "A <a ", "A <a<b> ", "A <a@b>", " <a> \t"]) +
    dice.pick(["1700000000", "1700000000", "0", "01", "9223372036854775807", "9223372036854775808", "x", "12x", ""]) +
    dice.pick([" +0100", " +0100", " -0000", " 0100", " +01000", "+0100", " +01", ""]);
  const good = "Ada <ada@x> 1700000000 +0100";
  const commits = Array.from({ length: 2500 }, (): RawObject => {
    const lines = [
      `tree ${dice.oid().toString("hex")}`,
      ...Array.from({ length: dice.roll(3) }, () => `parent ${dice.oid().toString("hex")}`),
      `author ${dice.roll(3) === 0 ? person() : good}`,
      `committer ${dice.roll(3) === 0 ? person() : good}`,
      ...(dice.roll(3) === 0 ? ["encoding x", "gpgsig y", " z"] : []),
    ];
    const at = dice.roll(lines.length);
    if (dice.roll(8) === 0) lines.splice(at, 1);
    if (dice.roll(8) === 0) lines.splice(at, 0, lines[dice.roll(lines.length)] ?? "");
    const content = Buffer.from(`${lines.join("\n")}\n\nmessage\n`);
    return { type: "commit", content: dice.roll(3) === 0 ? mutate(dice, content, TEXT_BYTES) : content };
  });
  const { parsed, kinds } = await compare(commits, (findings, content) => (isOtherDate(content) ? [] : findings));
  expect(parsed).toBeGreaterThan(1800);
  expect(kinds).toBeGreaterThan(30);
});

test("tags with lines lost, doubled, swapped and damaged", { tags: "sweep" }, async () => {
  const dice = new Dice(5);
  const dir = await makeRepository("mktag");
  for (let count = 0; count < 250; count++) {
    const lines = [
      `object ${dice.oid().toString("hex")}`,
      `type ${dice.pick(["commit", "tree", "blob", "tag", "commits", "commi", ""])}`,
      `tag ${dice.string(["v", "1", ".", "/", "@", "{", "~", ".lock", " "], 0, 4)}`,
      `tagger Ada <ada@x> 1700000000 +0100`,
      ...(dice.roll(4) === 0 ? ["x y"] : []),
    ];
    const at = dice.roll(lines.length);
    if (dice.roll(6) === 0) lines.splice(at, 1);
    if (dice.roll(6) === 0) lines.splice(at, 0, lines[dice.roll(lines.length)] ?? "");
    let content = Buffer.from(`${lines.join("\n")}\n\nmessage\n`);
    if (dice.roll(3) === 0) content = mutate(dice, content, TEXT_BYTES);
    if (isOtherDate(content)) continue;
    const shown = JSON.stringify(content.toString("latin1"));
    // oxlint-disable-next-line no-await-in-loop -- one process at a time
    const gits = await mktagWithGit(dir, content);
    expect(new Set(checkObject("tag", content).findings), shown).toEqual(gits);
  }
});

test("configuration pieced together", { tags: "sweep" }, async () => {
  const dice = new Dice(6);
  const tokens = [
    ...'[submodule "|[Submodule\t"|[submodule.|[submodule "a"]\n|"]\n|[|]|]\n|\nurl = |\nURL|\npath=|\nupdate =\t|= |url'.split(
      "|",
    ),
    ...String.raw`\n|\t|\x|\\|\"|"|#|;|..|../|./|..\\|/`.split("|"),
    ..."\n|\r\n|\r|\\\n|\\\r\n| |\t|\xe9|\0".split("|"),
    ..."-u !sh %0a %0A %2e%2e % http:// https:: ftp://h git:// : :80 @ ? a 1".split(" "),
  ];
  const blobs = Array.from({ length: 2500 }, (): RawObject => {
    const start = dice.pick([
      "",
      '[submodule "a"]\nurl = ',
      '[submodule "a"]\nurl = http://',
      '[submodule "a"]\npath = x\nurl = ../',
      '[submodule "',
    ]);
    return { type: "blob", content: Buffer.from(start + dice.string(tokens, 1, 12), "latin1") };
  });
  const trees = blobs.map(({ content }): RawObject => ({
    type: "tree",
    content: Buffer.concat([Buffer.from("100644 .gitmodules\0"), Buffer.from(hashObject("blob", content), "hex")]),
  }));
  const verdicts = await fsckWithGit([...blobs, ...trees]);
  const kinds = new Set<string>();
  for (const { content } of blobs) {
    const shown = JSON.stringify(Buffer.from(content).toString("latin1"));
    const ours = new Set<string>(checkObject("gitmodules", content).findings);
    const gits = new Set(verdicts.get(hashObject("blob", content)));
    kinds.add([...ours].join());
    // Git before 2.45 looks only for newlines in such a URL, not for its other flaws.
    if (/(?:http|ftp)s?:/.test(shown) && !gits.has("gitmodulesUrl")) ours.delete("gitmodulesUrl");
    expect(ours, shown).toEqual(gits);
  }
  expect(kinds.size).toBeGreaterThan(5);
});
