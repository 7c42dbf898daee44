// Six files of 64 MB that are written to a worktree at once: they are streamed, none of them is
// held in memory.
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { git } from "../harness/git.ts";
import { makeOddRepository } from "../harness/odd-tree.ts";
import { startServer } from "../harness/server.ts";

const MB = 1_000_000;
const FILES = 6;
const FILE_BYTES = 64 * MB;

/** How far the server's process may rise, in MB, for 384 MB that are written. */
const MAX_RISE_MB = 250;

/** A text that differs for each file. */
function makeText(file: number): Buffer {
  const lines = Array.from({ length: 3_000 }, (_, i) => `file ${file}, line ${(i * 7_919) % 3_001}\n`);
  return Buffer.alloc(FILE_BYTES, lines.join(""));
}

test("a worktree of six files of 64 MB is written in bounded memory", async () => {
  // Nothing is written until it is requested.
  const server = await startServer({ vars: { LIMITS: JSON.stringify({ quietMs: 3_000 }) } });
  try {
    const files = Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`file-${i}`, makeText(i)]));
    const dir = await makeOddRepository([{ branch: "main", files }]);
    await git(dir, "push", "-q", `${server.url}/me/repo.git`, "main");
    // Frees the memory of the push.
    await server.restart();
    const api = `${server.url}/api/repos/me/repo`;
    await (await fetch(`${api}/worktrees`)).arrayBuffer();
    const before = server.readUsage().memoryBytes;
    let most = before;
    let isDone = false;
    const done = fetch(`${api}/maintenance`, { method: "POST" }).finally(() => (isDone = true));
    while (!isDone) {
      most = Math.max(most, server.readUsage().memoryBytes);
      await wait(20);
    }
    expect((await done).status).toBe(200);
    const written = await server.readObjects("worktrees/");
    expect(written.size).toBe(FILES);
    for (const { bytes } of written.values()) expect(bytes.length).toBe(FILE_BYTES);
    const hashes = [...written.values()].map(({ bytes }) => createHash("sha1").update(bytes).digest("hex"));
    const expected = Object.values(files).map((bytes) => createHash("sha1").update(bytes).digest("hex"));
    expect(hashes.toSorted()).toEqual(expected.toSorted());
    console.log(`six files of 64 MB, rise in MB: ${Math.round((most - before) / MB)}`);
    expect((most - before) / MB).toBeLessThan(MAX_RISE_MB);
  } finally {
    await server.close();
  }
});
