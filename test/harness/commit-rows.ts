import { expect, vi } from "vitest";
import { askApi } from "./api.ts";
import type { Server } from "./server.ts";

/** How long before it is due a job counts as one that may run any time. */
const SOON_MS = 1_000;

/** Commits a file to branch `main` through the API, a few times. What the jobs of one write is not
 * counted as the next one's: it waits for them.
 * @param path `owner/repository`
 * @param headers of the requests
 * @returns the most rows that a commit wrote: one that finds a job of the one before it writes a
 * row less */
export async function mostRows(
  server: Server,
  path: string,
  commits: number,
  headers: Record<string, string> = {},
): Promise<number> {
  let rows = 0;
  for (let i = 0; i < commits; i++) {
    await vi.waitUntil(() => isIdle(server, path, headers), { timeout: 60_000, interval: 20 });
    rows = Math.max(rows, await commitRows(server, path, headers));
  }
  return rows;
}

/** Whether no job of a repository runs, nor is about to. */
async function isIdle(server: Server, path: string, headers: Record<string, string>): Promise<boolean> {
  const { body } = await askApi<{ jobs: { dueAt: string; attempts: number }[] }>(server, `/repos/${path}/maintenance`, {
    headers,
  });
  return body.jobs.every(({ dueAt, attempts }) => attempts === 0 && Date.parse(dueAt) > Date.now() + SOON_MS);
}

async function commitRows(server: Server, path: string, headers: Record<string, string>): Promise<number> {
  server.takeEvents();
  const { status, body } = await askApi(server, `/repos/${path}/commits`, {
    method: "POST",
    json: {
      branch: "main",
      message: "m",
      author: { name: "Ada", email: "ada@example.com" },
      operations: [{ op: "put", path: "file", content: crypto.randomUUID() }],
    },
    headers,
  });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  for (;;) {
    const event = await server.takeEvent("call");
    if (event.name === "commit") return event.operations.rowsWritten;
  }
}
