import { test } from "vitest";
import { expectDocumentedAnswers } from "./fuzzed-rounds.ts";

test("no request that the document inspires makes a 5xx, or an answer outside its schema", () =>
  expectDocumentedAnswers(14));
