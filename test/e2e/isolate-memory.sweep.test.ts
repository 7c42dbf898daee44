import { expect, test } from "vitest";
import { LONG_FILE, makeLongHistory } from "../harness/long-history.ts";
import { measureLoad } from "./isolate-load.ts";

/** The most MiB of an isolate, garbage included. Of that some 60 to 100 are buffers that nobody
 * refers to: V8 collects them after every 64 MiB or so, since the local runtime has no limit. It is
 * 120 to 175 under all loads here but pages. */
const MAX_MIB = 256;

test("garbage of an isolate does not pile up, whatever is asked of it", async () => {
  const dir = await makeLongHistory({ commits: 4_000, files: 2_000, longLines: 3_000, longEvery: 10 });
  const load = { dir, file: LONG_FILE, text: "return", clones: 20, uploads: 6, uploadBytes: 16 * 1024 * 1024 };
  const peaks = await measureLoad(load);
  console.log("isolate, MiB", JSON.stringify(peaks));
  expect(Object.entries(peaks).filter(([, peak]) => peak > MAX_MIB)).toEqual([]);
});
