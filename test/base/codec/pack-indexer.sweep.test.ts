import { test } from "vitest";
import { assemblePack } from "../../harness/pack-builder.ts";
import { expectAsGit } from "./git-index.ts";
import { makeChain } from "./packs.ts";

// Git takes seconds for these.
test.each(["ofs", "ref"] as const)("a chain of 5,000 deltas (%s) is indexed as git does", async (kind) => {
  const pack = assemblePack(makeChain(5_000, kind));
  await expectAsGit({ name: `a chain of 5,000 ${kind}`, pack, stored: [], isSmall: false });
});
