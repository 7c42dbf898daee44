import { expect, test } from "vitest";
import { makeCorpora, measureCodecs, startCodecs } from "../../../scripts/bench/cases/codec.ts";
import { Bench } from "../../../scripts/bench/figures/bench.ts";
import { makeLongHistory } from "../../harness/fast-import.ts";

test("every implementation gives what git holds, and a wrong digest is noticed", { tags: "sweep" }, async () => {
  await using stack = new AsyncDisposableStack();
  const corpora = await makeCorpora(await makeLongHistory(40), 20_000);
  const url = await startCodecs(stack);
  const bench = new Bench(stack);
  for (const corpus of corpora) {
    await measureCodecs(corpus, 1, url, bench);
    await expect(measureCodecs({ ...corpus, digest: "0".repeat(40) }, 1, url, bench)).rejects.toThrow("is wrong");
  }
  expect(new Set(corpora.map(({ work }) => work))).toEqual(new Set(["index", "inflate", "deflate", "SHA-1"]));
  // What takes less time than the question for it has no figure.
  expect(bench.samples.map(({ side, measure }) => `${side} ${measure}`)).toContain("native MB/s");
  for (const { value } of bench.samples) expect(value).toBeGreaterThan(0);
});
