import { test } from "vitest";
import { expectDocumentedAnswers } from "./fuzzed-rounds.ts";

// `fuzz.sweep.test.ts` does the same for longer, `npm run verify -- fuzz-api` for any time.
test("no request that the document inspires makes a 5xx, or an answer outside its schema", () =>
  expectDocumentedAnswers(2));
