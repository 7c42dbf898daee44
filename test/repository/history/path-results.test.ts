import { testPathResults } from "./path-results.ts";

testPathResults({ commits: 200, files: 50, longLines: 200, longEvery: 20 }, 6);
