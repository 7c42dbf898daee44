import { afterAll, beforeAll, test } from "vitest";
import { type Server, startServer } from "../harness/server.ts";
import { expectReplayed } from "./replayed-history.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

// These commits include five merges and ten that rename or replace directories.
test("the end of a history pushed commit by commit: no fetch brings an object twice", async () => {
  await expectReplayed(server, 30);
}, 120_000);
