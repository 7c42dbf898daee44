import { afterAll, beforeAll, expect, test } from "vitest";
import { fuzzApi, listUntried } from "../harness/fuzzed-api.ts";
import { type Server, startServer } from "../harness/server.ts";

let server: Server;

beforeAll(async () => {
  server = await startServer();
}, 180_000);

afterAll(() => server.close());

// `fuzz.sweep.test.ts` does the same for longer, `npm run verify -- fuzz-api` for any time.
test("no request that the document inspires makes a 5xx, or an answer outside its schema", async () => {
  const result = await fuzzApi(server, 1, 5);
  expect(result.violations).toEqual([]);
  expect(listUntried(result)).toEqual([]);
}, 180_000);
