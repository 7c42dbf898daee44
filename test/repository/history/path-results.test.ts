import { testPathResults } from "./path-results.ts";

testPathResults({ commits: 1_200, files: 150, longLines: 400, longEvery: 20 }, 30);
