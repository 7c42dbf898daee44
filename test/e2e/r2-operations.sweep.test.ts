import { afterAll, beforeAll, test } from "vitest";
import { type Server, startServer } from "../harness/server.ts";
import { expectFewPuts, KIB, MB } from "./counted-push.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test.each([
  ["257 KiB", 1, 257 * KIB],
  ["1 MB in 10 files", 10, MB / 10],
  ["5 MB in 50 files", 50, MB / 10],
  ["a blob of 12 MB", 1, 12 * MB],
  ["20 MB in 20 files", 20, MB],
  ["20 MB in 2,500 files", 2_500, 8_000],
  ["blobs of 3 MB", 7, 3 * MB],
  ["blobs of 9 MB", 3, 9 * MB],
])("a push of %s costs a PUT for every 2 MB and 2 more at the most", (_, files, sizeBytes) =>
  expectFewPuts(server, files, sizeBytes),
);
