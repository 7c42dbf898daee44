// Clients that request large files and read nothing: the server inflates only what is read.
// `unread-responses.sweep.test.ts` has further requests.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Server } from "../harness/server.ts";
import { measureUnread, startWithLargeFile } from "./unread.ts";

let server: Server;
beforeAll(async () => {
  server = await startWithLargeFile();
});
afterAll(() => server.close());

// Six of 32 MiB each, minus what the sockets hold.
test("unread: six files", { tags: "sweep" }, async () => {
  const paths = Array.from({ length: 6 }, () => "raw/main/large.txt");
  expect(await measureUnread(server, paths)).toBeLessThan(64);
});
