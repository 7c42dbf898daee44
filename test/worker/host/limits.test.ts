import { afterAll, beforeAll, expect } from "vitest";
import { makeHistory } from "../../harness/history.ts";
import { tryGit } from "../../harness/git.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { testSome } from "../../harness/sweep.ts";

let history: string;
beforeAll(async () => {
  history = await makeHistory({ commits: 30, files: 10 });
});

let server: Server | null = null;
afterAll(() => server?.close());

/** Pushes to a server with lowered limits, and returns what the user reads. */
async function pushWith(limits: Record<string, number>): Promise<string> {
  await server?.close();
  server = await startServer({ vars: { LIMITS: JSON.stringify(limits) } });
  const { code, stderr } = await tryGit(history, ["push", `${server.url}/me/limited`, "--all"]);
  expect(code).not.toBe(0);
  return stderr;
}

const REFUSED: [Record<string, number>, RegExp][] = [
  [{ maxPackObjects: 20 }, /objects in a pack exceeds the limit of 20 \(it is \d+\)/],
  [{ maxPackSizeBytes: 1000 }, /exceeds the limit of 1000/],
  [
    { maxResidentObjectBytes: 20, maxObjectSizeBytes: 20 },
    /a file or another object in the pack \(bytes\) exceeds the limit of 20/,
  ],
  [{ maxPushWorkBytes: 5_000 }, /work of the push .* exceeds the limit of 5000/],
  // Refused before there is a report to write into: git shows the status, but not the text.
  [{ maxRefsPerPush: 0 }, /HTTP 413/],
  [{ maxCommandBytes: 50 }, /HTTP 413/],
];

testSome(1, REFUSED, "a push beyond %j is refused with the limit in the message", async ([limits, message]) => {
  expect(await pushWith(limits)).toMatch(message);
});
