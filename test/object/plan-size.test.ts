import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { HOT_PUSH_BYTES, MAX_PLAN_BYTES } from "../../src/base/format/limits.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { ANYONE } from "../harness/requester.ts";
import { CLONE_REQUEST } from "./clone-request.ts";
import { PushedRepository } from "./pushing.ts";
import { fromHex } from "./stored-repository.ts";

const NOISE_BYTES = HOT_PUSH_BYTES - 1_000;

test(
  "a plan that no call can carry is refused in words, and small again when housekeeping has come by",
  { tags: "sweep" },
  async () => {
    const repository = new PushedRepository();
    const tips: string[] = [];
    for (let push = 0; push <= MAX_PLAN_BYTES / NOISE_BYTES; push++) {
      const blob = makeObject("blob", randomBytes(NOISE_BYTES));
      const tree = makeTree(["100644", "noise", blob]);
      const commit = makeCommit(tree, [], `${push}\n`);
      await repository.push([[`refs/heads/${push}`, null, commit.oid]], packOf(blob, tree, commit));
      tips.push(commit.oid);
    }
    const fetch = (...wants: string[]) =>
      repository.repository.fetch({ ...CLONE_REQUEST, wants: fromHex(wants.join("")) });
    expect(await fetch(...tips)).toEqual({
      kind: "refused",
      message: expect.stringMatching(
        /^the plan of this pack \(bytes\) exceeds the limit of 31457280 \(it is \d+\): ask for less at a time: /,
      ),
    });
    const backup = await repository.repository.call("planBackup", undefined, ANYONE);
    expect(backup).toMatchObject({ kind: "failed", code: "too-large" });
    expect(await fetch(...tips.slice(1))).toMatchObject({ kind: "negotiated" });
    await repository.repository.call("maintain", [], ANYONE);
    expect(await fetch(...tips)).toMatchObject({ kind: "negotiated" });
  },
);
