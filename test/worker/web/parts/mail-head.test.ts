import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fromByteString } from "../../../../src/base/format/byte-string.ts";
import { formatMail } from "../../../../src/worker/web/parts/mail-head.ts";
import { toCommitRecord } from "../../../../src/object/objects/commit-record.ts";
import { git, makeRepository, tryGit } from "../../../harness/git.ts";

const long = (word: string, count: number): string => Array.from({ length: count }, (_, i) => `${word}${i}`).join(" ");

test.each([
  ["plain", "Ada", "a@example.com", "A subject\n\nA body.\n\nAnd more.\n"],
  ["no body", "Ada", "a@example.com", "A subject\n"],
  ["a subject of two lines, blanks at ends", "Ada", "a@example.com", "\n\none  \ntwo\r\n\n\n  body \n\n\tx\n\n\n"],
  ["a long subject", "Ada", "a@example.com", `${long("word", 30)}\n\n${long("body", 30)}\n`],
  ["a word that is too long", "Ada", "a@example.com", `${"x".repeat(90)} ${"y".repeat(90)} z\n`],
  ["wide blanks", "Ada", "a@example.com", `a   b\t c ${long("w", 40)}    end\n`],
  [
    "other letters",
    "J\u00f6rg M\u00fcller",
    "j@example.com",
    `\u00dcber ${long("w\u00f6rd", 20)} \u{1f600}\u{1f600}\n\nm\u00f6re\n`,
  ],
  ["other letters only in the body", "Ada", "a@example.com", "plain\n\n\u05e9\u05dc\u05d5\u05dd\n"],
  ["signs in a name", `A. "B" C\\D`, "a@example.com", "x\n"],
  ["signs in a name of other letters", `\u00c4. "B" (C) _=?`, "a@example.com", "a_b =?x?= \u00e4\n"],
  ["a long name", long("Name", 20), `${"m".repeat(60)}@example.com`, "x\n"],
  ["looks encoded", "=?UTF-8?q?x?=", "a@example.com", "=?UTF-8?q?x?=\n"],
])("a commit is the mail that git writes: %s", async (_, name, email, message) => {
  const dir = await makeRepository("mail");
  const date = "1700000000 +0530";
  const env = { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date };
  writeFileSync(join(dir, "file"), "content\n");
  await git(dir, "add", "file");
  const options = ["commit", "-q", "--cleanup=verbatim", "-F", "-"];
  expect((await tryGit(dir, options, { env, stdin: message })).stderr).toBe("");
  const oid = await git(dir, "rev-parse", "HEAD");
  const { stdoutBytes } = await tryGit(dir, ["cat-file", "commit", oid]);
  const own = Buffer.from(fromByteString(formatMail(toCommitRecord(oid, stdoutBytes)))).toString();
  const { stdout } = await tryGit(dir, ["format-patch", "--stdout", "-1", "-p", "--no-signature"]);
  expect(own).toBe(stdout.slice(0, stdout.indexOf("diff --git")));
});
