import { expect, test } from "vitest";
import { LONG_FILE, makeLongHistory } from "../harness/long-history.ts";
import { ISOLATE_MIB, measureLoad } from "./isolate-load.ts";

test("an isolate keeps within the platform's memory, whatever is asked of it", async () => {
  const dir = await makeLongHistory({ commits: 4_000, files: 2_000, longLines: 3_000, longEvery: 10 });
  const load = { dir, file: LONG_FILE, text: "return", clones: 20, uploads: 6, uploadBytes: 16 * 1024 * 1024 };
  const peaks = await measureLoad(load);
  console.log("isolate, MiB", JSON.stringify(peaks));
  expect(Object.entries(peaks).filter(([, peak]) => peak > ISOLATE_MIB)).toEqual([]);
});
