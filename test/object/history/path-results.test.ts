import { describe } from "vitest";
import { testPathResults } from "./path-results.ts";

describe("in a short history", { tags: "sweep" }, () =>
  testPathResults({ commits: 200, files: 50, longLines: 200, longEvery: 20 }, 6),
);
