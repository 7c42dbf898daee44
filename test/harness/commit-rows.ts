import { expect } from "vitest";
import { askApi } from "./api.ts";
import type { Server } from "./server.ts";

/** Commits a file to branch `main` through the API, a few times.
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
  for (let i = 0; i < commits; i++) rows = Math.max(rows, await commitRows(server, path, headers));
  return rows;
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
