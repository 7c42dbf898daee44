import { afterAll, beforeAll, test } from "vitest";
import { type Server, startServer } from "../harness/server.ts";
import { expectReplayed } from "./replayed-history.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test("a history pushed commit by commit: no fetch brings an object twice", async () => {
  await expectReplayed(`${server.url}/me/replay.git`, 129);
});
