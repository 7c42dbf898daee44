import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { fromTypeNumber, isObjectType, objectHeader, toTypeNumber } from "../../../src/base/format/object.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";

test("header and content hash to git's own id", async () => {
  const dir = await makeRepository("objects");
  const content = Buffer.from("hello\n");
  const { stdout } = await tryGit(dir, ["hash-object", "--stdin"], { stdin: content });
  const hash = createHash("sha1").update(objectHeader("blob", content.length)).update(content);
  expect(hash.digest("hex")).toBe(stdout.trim());
});

test("types and their numbers", () => {
  expect([1, 2, 3, 4].map(fromTypeNumber)).toEqual(["commit", "tree", "blob", "tag"]);
  expect((["commit", "tree", "blob", "tag"] as const).map(toTypeNumber)).toEqual([1, 2, 3, 4]);
  for (const number of [0, 5, 6, 7]) expect(() => fromTypeNumber(number)).toThrow(RangeError);
  expect(isObjectType("blob")).toBe(true);
  expect(isObjectType("toString")).toBe(false);
});
