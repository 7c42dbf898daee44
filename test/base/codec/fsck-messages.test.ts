import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FSCK_MESSAGES, listFindings, maskRefused } from "../../../src/base/codec/fsck-messages.ts";
import { PROJECT } from "../../harness/build.ts";
import { git } from "../../harness/git.ts";

describe("the fsck messages", () => {
  test("have the numbers that the WASM module gives them", () => {
    const source = readFileSync(join(PROJECT, "wasm/src/fsck/message.zig"), "utf8");
    const members = [...source.matchAll(/^ {4}(\w+),$/gm)].map(([, id]) => id);
    expect(members).toEqual(FSCK_MESSAGES);
  });

  test("are git's", async () => {
    const known = (await git(PROJECT, "help", "--config")).split("\n");
    // Newer than the oldest git that runs these tests.
    const young = ["largePathname"];
    const unknown = FSCK_MESSAGES.filter((id) => !known.includes(`fsck.${id}`));
    expect(young).toEqual(expect.arrayContaining(unknown));
  });
});

describe("the refused findings", () => {
  const listRefused = (setting: Parameters<typeof maskRefused>[0]): string[] => listFindings(maskRefused(setting));

  test("are by default what git's receiving side refuses, but for what old histories have", () => {
    expect(listRefused("default")).toEqual(
      expect.arrayContaining(["nulInHeader", "badTree", "hasDotgit", "nulInCommit"]),
    );
    for (const id of [
      "badTimezone",
      "missingSpaceBeforeDate",
      "zeroPaddedFilemode",
      "badFilemode",
      "extraHeaderEntry",
    ]) {
      expect(listRefused("default")).not.toContain(id);
    }
  });

  test("are more where strict and fewer where lenient", () => {
    const lost = listRefused("strict").filter((id) => !listRefused("default").includes(id));
    expect(lost).toEqual(["badTimezone", "missingSpaceBeforeDate", "zeroPaddedFilemode"]);
    const spared = listRefused("default").filter((id) => !listRefused("lenient").includes(id));
    expect(spared).toEqual([
      "fullPathname",
      "hasDot",
      "hasDotdot",
      "hasDotgit",
      "largePathname",
      "nullSha1",
      "nulInCommit",
    ]);
    expect(maskRefused("lenient") & ~maskRefused("default")).toBe(0n);
  });
});
