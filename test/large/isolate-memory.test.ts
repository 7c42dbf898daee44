/** An isolate keeps within the platform's memory under a large history, too. */
import { expect, test } from "vitest";
import { ISOLATE_MIB, measureLoad } from "../e2e/isolate-load.ts";
import { LONG_FILE, makeLongHistory } from "../harness/long-history.ts";

/** What takes more than the platform has, garbage included, in MiB: the buffers of objects that are
 * resolved one after the other are left to V8, which collects them after some 60 MiB and when it
 * has time to. Measured are 135 and 148 for clones, beside which the jobs run that follow a push;
 * 157 and 176 for a blame; 171 and 197 for a check. */
const MOST_MIB: Readonly<Record<string, number>> = { clones: 165, blame: 195, "a check": 220 };

test("pushes, twenty clones, large files and a check of 30,000 commits", async () => {
  const dir = await makeLongHistory({ commits: 30_000, files: 8_000, longLines: 8_000, longEvery: 20 });
  const load = { dir, file: LONG_FILE, text: "return", clones: 20, uploads: 6, uploadBytes: 64 * 1024 * 1024 };
  const peaks = await measureLoad(load);
  console.log("isolate, MiB", JSON.stringify(peaks));
  expect(Object.entries(peaks).filter(([kind, peak]) => peak > (MOST_MIB[kind] ?? ISOLATE_MIB))).toEqual([]);
});
