import { test } from "vitest";
import { expectDocumentedAnswers } from "./fuzzed-rounds.ts";

// `npm run verify -- fuzz-api` does the same for any time.
test("no request that the document inspires makes a 5xx, or an answer outside its schema", () =>
  expectDocumentedAnswers(14));
