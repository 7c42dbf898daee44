import { describe, expect, test } from "vitest";
import { type RefOutcome, explainRefusal, findRefused, type RefRefusal } from "../../../src/contract/push.ts";
import { refusalError, refuseWhole } from "../../../src/object/state/ref-refusal.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);

const moved: RefOutcome = { name: "refs/heads/moved", refusal: null };
const refused = (name: string, refusal: RefRefusal): RefOutcome => ({ name, refusal });

test.each<[RefRefusal, string, string]>([
  [{ kind: "stale", expected: A, actual: B }, `is at ${"b".repeat(12)} but expected ${"a".repeat(12)}`, "stale"],
  [{ kind: "stale", expected: null, actual: B }, `is at ${"b".repeat(12)} but expected nothing`, "stale"],
  [{ kind: "stale", expected: A, actual: null }, `is at nothing but expected ${"a".repeat(12)}`, "stale"],
  [{ kind: "conflict", with: "refs/heads/x/y" }, "conflicts with refs/heads/x/y", "conflict"],
  [{ kind: "forbidden", reason: "protected: refs/** does not move" }, "protected: refs/** does not move", "forbidden"],
  [{ kind: "missing", oid: A, isShallow: false }, `missing necessary objects: ${A}`, "conflict"],
  [{ kind: "missing", oid: null, isShallow: false }, "missing necessary objects", "conflict"],
  [
    { kind: "missing", oid: A, isShallow: true },
    "shallow update not allowed: commits before the clone's shallow boundary are missing here; " +
      `run git fetch --unshallow, then push again (missing necessary objects: ${A})`,
    "conflict",
  ],
  [{ kind: "not-a-commit" }, "cannot point a branch at an object that is not a commit", "conflict"],
  [{ kind: "current-branch" }, "deletion of the current branch prohibited", "conflict"],
  [{ kind: "bad-name" }, "funny refname", "conflict"],
  [{ kind: "repeated", name: "refs/heads/x" }, "multiple updates for ref 'refs/heads/x' not allowed", "conflict"],
  [{ kind: "atomic" }, "atomic push failure", "conflict"],
  [{ kind: "unpack" }, "unpacker error", "conflict"],
])("%j has its words and its error", (refusal, words, code) => {
  expect(explainRefusal(refusal)).toBe(words);
  expect(refusalError("refs/heads/x", refusal).code).toBe(code);
});

test("the error of a ref that moved meanwhile says from where to where", () => {
  const refusal: RefRefusal = { kind: "stale", expected: A, actual: null };
  expect(refusalError("refs/heads/\xc3\xa9", refusal).data).toEqual({
    what: "refs/heads/é",
    expected: A,
    actual: null,
  });
});

describe("a push as a whole", () => {
  const bad = refused("refs/heads/bad", { kind: "bad-name" });
  const stale = refused("refs/heads/stale", { kind: "stale", expected: A, actual: B });

  test("goes on when all refs move, or some of one that is not atomic, or there is none", () => {
    expect(refuseWhole([], true)).toBeNull();
    expect(refuseWhole([moved], true)).toBeNull();
    expect(refuseWhole([moved, bad], false)).toBeNull();
  });

  test("is refused when no ref moves, each for its own reason", () => {
    expect(refuseWhole([bad, stale], false)).toEqual([bad, stale]);
    expect(refuseWhole([bad, stale], true)).toEqual([bad, stale]);
  });

  test("is refused when it is atomic and one ref does not move", () => {
    expect(refuseWhole([moved, bad], true)).toEqual([refused(moved.name, { kind: "atomic" }), bad]);
  });

  test("came to nothing for what is forbidden, then what is stale, and never for being atomic", () => {
    const atomic = refused("refs/heads/a", { kind: "atomic" });
    const forbidden = refused("refs/heads/f", { kind: "forbidden", reason: "protected: it" });
    expect(findRefused([moved])).toBeNull();
    expect(findRefused([atomic, bad, stale, forbidden])).toBe(forbidden);
    expect(findRefused([atomic, bad, stale])).toBe(stale);
    expect(findRefused([atomic, bad])).toBe(bad);
  });
});
