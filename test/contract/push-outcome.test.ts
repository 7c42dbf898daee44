import { expect, test } from "vitest";
import { GitError } from "../../src/base/format/errors.ts";
import { outcomeResponse, readOutcome } from "../../src/contract/push-outcome.ts";
import type { PushResult } from "../../src/contract/push.ts";

test("how a push ended comes back as it was", async () => {
  const outcome: PushResult = {
    unpack: new GitError("too-large", { what: "objects in a pack", limit: 10, actual: 11, reason: "push less" }),
    refs: [
      { name: "refs/heads/\xff", refusal: { kind: "stale", expected: null, actual: "a".repeat(40) } },
      { name: "refs/heads/y", refusal: null },
    ],
  };
  const read = await readOutcome(outcomeResponse(outcome));
  expect(read.refs).toEqual(outcome.refs);
  expect(read.unpack).toMatchObject({
    code: "too-large",
    data: outcome.unpack!.data,
    message: outcome.unpack!.message,
  });
  expect((await readOutcome(outcomeResponse({ unpack: null, refs: [] }))).unpack).toBeNull();
});

test("a failure comes back as what it was, and one that nobody foresaw as storage's", async () => {
  const failure = new GitError("timeout", { what: "request" });
  await expect(readOutcome(outcomeResponse(failure))).rejects.toMatchObject({ code: "timeout", data: failure.data });
  await expect(readOutcome(new Response("internal error\n", { status: 500 }))).rejects.toMatchObject({
    code: "storage-failed",
    message: "storage failed: internal error",
  });
});
