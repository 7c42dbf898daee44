import { expect, test } from "vitest";
import { fromByteString } from "../../../src/base/format/byte-string.ts";
import { encodeTag, parseTag } from "../../../src/base/format/tag.ts";
import { fromHex } from "../../../src/base/format/oid.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";

const OBJECT = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

test("git's own tags round-trip, whatever they name", async () => {
  const dir = await makeRepository("tags");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "one");
  await git(dir, "tag", "-a", "-m", "of a commit", "v1");
  await git(dir, "tag", "-a", "-m", "of a tree", "tree", "HEAD^{tree}");
  await git(dir, "tag", "-a", "-m", "of a tag", "ünïcode", "v1");
  for (const [name, type] of [
    ["v1", "commit"],
    ["tree", "tree"],
    ["ünïcode", "tag"],
  ] as const) {
    const content = (await tryGit(dir, ["cat-file", "tag", name])).stdoutBytes;
    const tag = parseTag(content);
    expect(Buffer.from(encodeTag(tag)).equals(content)).toBe(true);
    expect(Buffer.from(fromByteString(tag.name)).toString()).toBe(name);
    expect(tag.type).toBe(type);
    expect(tag.tagger).toEqual({
      name: "Ada Example",
      email: "ada@example.com",
      timeSeconds: 1_700_000_000,
      zone: "+0100",
    });
  }
});

test("what is encoded passes git's own check", async () => {
  const dir = await makeRepository("tags");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "one");
  const object = fromHex(await git(dir, "rev-parse", "HEAD"));
  const tagger = { name: "A", email: "a@b", timeSeconds: 1, zone: "+0000" };
  const message = fromByteString("signed\n-----BEGIN SSH SIGNATURE-----\n");
  const tag = { object, type: "commit", name: "v1", tagger, extraHeaders: [], message } as const;
  const { code } = await tryGit(dir, ["mktag"], { stdin: encodeTag(tag) });
  expect(code).toBe(0);
  expect(parseTag(encodeTag(tag))).toEqual(tag);
});

test("a tag may lack a tagger, and have headers more", () => {
  const content = fromByteString(`object ${OBJECT}\ntype tree\ntag -odd ~name\nx y\n\nold\n`);
  const tag = parseTag(content);
  expect(tag).toMatchObject({ name: "-odd ~name", tagger: null, extraHeaders: [{ name: "x", value: "y" }] });
  expect(encodeTag(tag)).toEqual(content);
});

test.each([
  ["nothing", ""],
  ["no object", "type commit\ntag v1\n\n"],
  ["a bad object", "object 1\ntype commit\ntag v1\n\n"],
  ["no type", `object ${OBJECT}\ntag v1\n\n`],
  ["an unknown type", `object ${OBJECT}\ntype constructor\ntag v1\n\n`],
  ["no name", `object ${OBJECT}\ntype commit\ntagger A <a@b> 1 +0000\n\n`],
  ["an unreadable tagger", `object ${OBJECT}\ntype commit\ntag v1\ntagger A\n\n`],
])("a tag with %s is corrupt", (_, content) => {
  expect(() => parseTag(fromByteString(content))).toThrow(
    expect.objectContaining({ code: "corrupt-object", data: expect.objectContaining({ type: "tag" }) }),
  );
});
