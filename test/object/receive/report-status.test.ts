import { expect, test } from "vitest";
import { encodeReport } from "../../../src/object/receive/serve-push.ts";
import type { RefOutcome } from "../../../src/contract/push.ts";
import { decodeLines } from "../../harness/raw.ts";

function report(...args: Parameters<typeof encodeReport>): string[] {
  return decodeLines(Buffer.from(encodeReport(...args)));
}

function refused(name: string, reason: string): RefOutcome {
  return { name, refusal: { kind: "forbidden", reason } };
}

test("one line for the pack and one for each ref, in their order", () => {
  const refs: RefOutcome[] = [
    { name: "refs/heads/main", refusal: null },
    { name: "refs/heads/x", refusal: { kind: "bad-name" } },
  ];
  expect(report("ok", refs)).toEqual(["unpack ok", "ok refs/heads/main", "ng refs/heads/x funny refname", "flush"]);
});

test("a reason stays one line of text, whatever an object is called", () => {
  const reason = "name 'a\nok refs/heads/x\0é\u{1f600}'";
  expect(report("bad\r\nthing", [refused("refs/heads/x", reason)])).toEqual([
    "unpack bad??thing",
    "ng refs/heads/x name 'a?ok refs/heads/x????'",
    "flush",
  ]);
});

test("the longest name that a command can carry, and a long reason", () => {
  const name = "n".repeat(65_434);
  expect(report("u".repeat(5_000), [refused(name, "funny refname")])).toEqual([
    `unpack ${"u".repeat(1_000)}`,
    `ng ${name} funny refname`,
    "flush",
  ]);
  expect(report("ok", [refused("n".repeat(1_024), "r".repeat(5_000))])[1]).toHaveLength(2_028);
});
