import { expect, test } from "vitest";
import { measureCodecs, startCodecs } from "../../../scripts/bench/cases/codec.ts";
import { formatSides } from "../../../scripts/bench/figures/table.ts";
import { makeCorpora } from "../../../scripts/bench/work/corpora.ts";
import { makeLongHistory } from "../../../scripts/bench/work/subjects.ts";

test("every implementation gives what git holds, and a wrong digest is noticed", async () => {
  await using stack = new AsyncDisposableStack();
  const corpora = await makeCorpora(await makeLongHistory(40), 20_000);
  const url = await startCodecs(stack);
  for (const corpus of corpora) {
    await measureCodecs(corpus, 1, url);
    await expect(measureCodecs({ ...corpus, digest: "0".repeat(40) }, 1, url)).rejects.toThrow("is wrong");
  }
  expect(new Set(corpora.map(({ work }) => work))).toEqual(new Set(["index", "inflate", "deflate", "SHA-1"]));
});

test("sides are put over the first base that did the work", () => {
  const sample = (side: string, value: number) => ({ work: { work: "w" }, side, measure: "ms", round: 1, value });
  const table = formatSides([sample("node:zlib", 4), sample("holdfast", 2)], "ms", ["native", "node:zlib"]);
  expect(table).toMatch(/^w +holdfast +2\.00 +0\.500$/m);
});
