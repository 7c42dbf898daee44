import { expect, test } from "vitest";
import type { Caller, Token } from "../../../src/base/access/caller.ts";
import { type ProtectedRefs, type RefChange, RefRules } from "../../../src/base/access/ref-rules.ts";

const rule = (pattern: string, more: Partial<ProtectedRefs> = {}): ProtectedRefs => ({
  pattern,
  noForce: false,
  noDelete: false,
  fastForwardOnly: false,
  allowedTokens: null,
  requiredContexts: [],
  ...more,
});

const tokenOf = (refs: Token["refs"] = null): Caller => ({
  kind: "token",
  knownMs: 0,
  token: {
    id: "one",
    name: "one",
    scope: { owner: "me" },
    right: "write",
    refs,
    createdMs: 0,
    expiresMs: null,
    lastUsedMs: null,
  },
});

const WRITER = { caller: tokenOf(), right: "write" } as const;
const ADMIN = { caller: { kind: "operator" }, right: "operate" } as const;

const change = (name: string, kind: RefChange["kind"], isForward: boolean | null = null): RefChange => ({
  name,
  kind,
  isForward: isForward === null ? null : () => isForward,
});

const CHANGES: readonly RefChange[] = [
  change("refs/heads/a", "creation"),
  change("refs/heads/a", "move", true),
  change("refs/heads/a", "move", false),
  change("refs/heads/a", "deletion"),
  change("refs/tags/a", "creation"),
  change("refs/tags/a", "move", true),
  change("refs/tags/a", "move", false),
  change("refs/tags/a", "deletion"),
];

/** One character for each change: `.` allowed, `x` refused. */
const outcome = (rules: RefRules): string => CHANGES.map((one) => (rules.refuse(one) === null ? "." : "x")).join("");

test.each<[string, readonly ProtectedRefs[], string]>([
  ["nothing", [], "........"],
  ["another pattern", [rule("refs/heads/b/**", { noForce: true, noDelete: true })], "........"],
  ["no force", [rule("refs/**", { noForce: true })], "..x..xx."],
  ["no deletion", [rule("refs/**", { noDelete: true })], "...x...x"],
  ["fast-forward only", [rule("refs/**", { fastForwardOnly: true })], "..xx..xx"],
  ["two that fit", [rule("refs/*/a", { noForce: true }), rule("refs/heads/*", { noDelete: true })], "..xx.xx."],
])("protected by %s, whoever asks", (_, rules, expected) => {
  expect(outcome(new RefRules(rules, WRITER))).toBe(expected);
  expect(outcome(new RefRules(rules, ADMIN))).toBe(expected);
});

test("allowed tokens are let through, and admins, and nobody else", () => {
  const rules = (ids: string[]) => [rule("refs/heads/*", { allowedTokens: ids })];
  expect(outcome(new RefRules(rules(["one"]), WRITER))).toBe("........");
  expect(outcome(new RefRules(rules(["two"]), WRITER))).toBe("xxxx....");
  expect(outcome(new RefRules(rules([]), ADMIN))).toBe("........");
  expect(outcome(new RefRules(rules(["one"]), { caller: { kind: "anonymous" }, right: "write" }))).toBe("xxxx....");
});

test("of a token's own patterns the first that fits decides, and without one the ref is not for it", () => {
  const refs = [
    { pattern: "refs/heads/a", noForce: true, noDelete: false },
    { pattern: "refs/heads/**", noForce: false, noDelete: true },
  ];
  const rules = new RefRules([], { caller: tokenOf(refs), right: "write" });
  expect(outcome(rules)).toBe("..x.xxxx");
  expect(rules.refuse(change("refs/heads/b", "deletion"))).toBe(
    "protected: with this token refs/heads/** cannot be deleted",
  );
  expect(rules.refuse(change("refs/tags/a", "creation"))).toBe("protected: this token may not change this ref");
});

test("required checks bind what is merged, and who merges", () => {
  const rules = [rule("refs/heads/*", { requiredContexts: ["ci", "lint"] })];
  expect(outcome(new RefRules(rules, WRITER))).toBe("........");
  const asked: unknown[] = [];
  const merge = (unmet: string | null): RefChange => ({
    ...change("refs/heads/a", "move", true),
    findUnmet: (contexts) => {
      asked.push(contexts);
      return unmet;
    },
  });
  for (const requester of [WRITER, ADMIN]) {
    expect(new RefRules(rules, requester).refuse(merge("lint (pending) for 0123"))).toBe(
      "protected: refs/heads/* requires checks that have not succeeded: lint (pending) for 0123",
    );
    expect(new RefRules(rules, requester).refuse(merge(null))).toBeNull();
  }
  expect(new RefRules([rule("refs/heads/*")], WRITER).refuse(merge("lint"))).toBeNull();
  expect(asked).toEqual(Array(4).fill(["ci", "lint"]));
});

test("what cannot be told yet holds nobody up", () => {
  const rules = new RefRules([rule("refs/**", { noForce: true, noDelete: true })], WRITER);
  expect(rules.refuse(change("refs/heads/a", "move"))).toBeNull();
  expect(rules.refuse(change("refs/tags/a", "move"))).toBe("protected: refs/** cannot be moved");
});

test("hostile patterns end with an error, not with the server's time", { tags: "sweep" }, () => {
  const hostile = Array.from({ length: 100 }, () => rule(`refs/${"*a".repeat(95)}*c*b`, { noDelete: true }));
  const rules = new RefRules(hostile, WRITER);
  const name = `refs/${"a".repeat(1_000)}b`;
  const all = (): void => {
    for (let i = 0; i < 50; i++) rules.refuse(change(name, "deletion"));
  };
  expect(all).toThrow(expect.objectContaining({ code: "too-large" }));
});
