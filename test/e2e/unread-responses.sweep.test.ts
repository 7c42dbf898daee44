import { afterAll, beforeAll, expect, test } from "vitest";
import type { Server } from "../harness/server.ts";
import { measureUnread, MIB, startWithLargeFile } from "./unread.ts";

let server: Server;
beforeAll(async () => {
  server = await startWithLargeFile();
});
afterAll(() => server.close());

// Six of 32 MiB each, minus what the sockets hold.
test.each([
  ["the last bytes of files", "raw/main/large.txt", { Range: `bytes=${16 * MIB}-` }],
  ["zips", "archive/main.zip", {}],
  ["tars", "archive/main.tar", {}],
  ["compressed tars", "archive/main.tar.gz", {}],
])("unread: six %s", async (_, path, headers) => {
  const paths = Array.from({ length: 6 }, () => path);
  expect(await measureUnread(server, paths, headers)).toBeLessThan(64);
});

test("unread: sixty files", async () => {
  const paths = Array.from({ length: 60 }, () => "raw/main/large.txt");
  expect(await measureUnread(server, paths)).toBeLessThan(128);
});
