import { expect, test } from "vitest";
import { encodeReport } from "../../src/protocol/report-status.ts";
import { decodeLines } from "../harness/raw.ts";

function report(...args: Parameters<typeof encodeReport>): string[] {
  return decodeLines(Buffer.from(encodeReport(...args)));
}

test("one line for the pack and one for each ref, in their order", () => {
  const refs = [
    { name: "refs/heads/main", error: null },
    { name: "refs/heads/x", error: "funny refname" },
  ];
  expect(report({ unpack: "ok", refs })).toEqual([
    "unpack ok",
    "ok refs/heads/main",
    "ng refs/heads/x funny refname",
    "flush",
  ]);
});

test("a reason stays one line of text, whatever an object is called", () => {
  const refs = [{ name: "refs/heads/x", error: "name 'a\nok refs/heads/x\0é\u{1f600}'" }];
  expect(report({ unpack: "bad\r\nthing", refs })).toEqual([
    "unpack bad??thing",
    "ng refs/heads/x name 'a?ok refs/heads/x????'",
    "flush",
  ]);
});

test("the longest name that a command can carry, and a long reason", () => {
  const name = "n".repeat(65_434);
  expect(report({ unpack: "u".repeat(5_000), refs: [{ name, error: "funny refname" }] })).toEqual([
    `unpack ${"u".repeat(1_000)}`,
    `ng ${name} funny refname`,
    "flush",
  ]);
  expect(report({ unpack: "ok", refs: [{ name: "n".repeat(1_024), error: "r".repeat(5_000) }] })[1]).toHaveLength(
    2_028,
  );
});
