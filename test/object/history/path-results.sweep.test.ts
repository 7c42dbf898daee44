import { testPathResults } from "./path-results.ts";

testPathResults({ seed: 2, commits: 8_000, files: 800, longLines: 2_000, longEvery: 40 }, 200);
