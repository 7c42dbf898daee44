import { testPathResults } from "./path-results.ts";

testPathResults({ commits: 600, files: 150, longLines: 400, longEvery: 20 }, 10);
