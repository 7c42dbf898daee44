import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readSamples } from "../../../scripts/bench/figures/sample.ts";
import { PROJECT } from "../../harness/build.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

const BENCH = join(PROJECT, "scripts/bench.ts");

test("every page is measured: one again and again, others once, the repository's after each push", async () => {
  const csv = join(makeTempDir("csv"), "pages.csv");
  const few = ["--no-native", "--commits", "60", "--files", "30", "--requests", "3"];
  await promisify(execFile)(process.execPath, [BENCH, "pages", ...few, "--csv", csv]);
  const samples = readSamples(csv);
  const pages = Map.groupBy(samples, ({ work }) => work["page"]);
  expect(pages.size).toBe(11);
  for (const [page, own] of pages) {
    const again = own.filter(({ measure }) => measure === "again ms").map(({ value }) => value);
    expect(again, String(page)).toHaveLength(page === "repository, first after a push" ? 5 : 3);
    for (const value of again) expect(value).toBeGreaterThan(0);
    const others = own.filter(({ measure }) => measure === "others, first byte ms");
    if (page === "commit") expect(others).toHaveLength(3);
  }
});
