/** The push log names who made the request, whatever its author field says; only some callers may
 * read that. */
import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import type { Server } from "../../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../../harness/shared-server.ts";

const PERSON = { name: "The President", email: "president@example.com" };
let server: Pick<Server, "url">;
let writer: { readonly id: string; readonly token: string };

beforeAll(async () => {
  server = await shareServer("pushes", WITH_TOKENS);
  const json = { owner: "pushes", name: "Ümit's laptop", right: "write" };
  writer = (await ask<typeof writer>("/tokens", ADMIN_TOKEN, "POST", json)).body;
  await git(
    await makeHistory({ commits: 2, files: 2 }),
    "push",
    urlOf("pushes/repo", ADMIN_TOKEN),
    "HEAD:refs/heads/main",
  );
});

const urlOf = (name: string, token: string): string => `${server.url.replace("://", `://git:${token}@`)}/${name}`;

function ask<Body>(path: string, token: string | null, method = "GET", json?: unknown) {
  const headers: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` };
  return askApi<Body>(server, path, { method, headers, json });
}

async function whoPushed(token: string | null): Promise<(string | null)[]> {
  const { status, body } = await ask<{ pushes: { who: string | null }[] }>("/repos/pushes/repo/pushes", token);
  expect(status).toBe(200);
  return body.pushes.map(({ who }) => who);
}

test("every change is its maker's, whoever its commits are by", { tags: "sweep" }, async () => {
  const by = `token ${writer.id} (Ümit's laptop)`;
  const commitTo = (branch: string, path: string) => ({
    branch,
    startPoint: "main~1",
    message: "m",
    author: PERSON,
    committer: PERSON,
    operations: [{ op: "put", path, content: "x" }],
  });
  const changes: [string, string, unknown][] = [
    ["POST", "/commits", commitTo("main", "one")],
    ["POST", "/commits", commitTo("side", "two")],
    ["POST", "/merge", { base: "main", head: "side", author: PERSON }],
    ["POST", "/branches", { name: "late", startPoint: "main~1" }],
    ["POST", "/merge", { base: "late", head: "main", author: PERSON, fastForward: "only" }],
    ["POST", "/cherry-pick", { branch: "side", commit: "main~1", committer: PERSON }],
    ["POST", "/revert", { branch: "main", commit: "main", mainline: 1, author: PERSON }],
    ["DELETE", "/branches/late", undefined],
  ];
  for (const [method, path, json] of changes) {
    const { status, body } = await ask(`/repos/pushes/repo${path}`, writer.token, method, json);
    expect([200, 201, 204], `${method} ${path}: ${JSON.stringify(body)}`).toContain(status);
  }
  expect(await whoPushed(ADMIN_TOKEN)).toEqual([...changes.map(() => by), "operator"]);
});

test("who may not write is not told who did", async () => {
  await ask("/repos/pushes/repo", ADMIN_TOKEN, "PATCH", { visibility: "public" });
  const reader = await ask<{ token: string }>("/tokens", ADMIN_TOKEN, "POST", {
    owner: "pushes",
    name: "reader",
    right: "read",
  });
  const stranger = await ask<{ token: string }>("/tokens", ADMIN_TOKEN, "POST", {
    owner: "you",
    name: "s",
    right: "admin",
  });
  for (const token of [null, reader.body.token, stranger.body.token]) {
    const { body } = await ask("/repos/pushes/repo/pushes", token);
    expect(JSON.stringify(body)).not.toMatch(/token|operator|laptop/);
    expect(new Set(await whoPushed(token))).toEqual(new Set([null]));
  }
  expect(await whoPushed(writer.token)).toContain("operator");
});
