import { expect, test } from "vitest";
import type { MaintenanceKind } from "../../src/repository/maintenance/housekeeping.ts";
import type { MaintenanceStatus } from "../../src/repository/maintenance/status.ts";
import { serveMaintenance } from "../../src/rest/maintenance.ts";

const STATUS: MaintenanceStatus = {
  objects: 3,
  commits: 1,
  refs: 1,
  chunks: { hot: 1, unmerged: 1, sealed: 0, unwhole: 0 },
  bytes: 200,
  hotBytes: 200,
  r2Objects: 0,
  jobs: [],
  lastRuns: {},
};

/** Serves one request. @param status what the repository says */
async function ask(method: string, query: string, status: MaintenanceStatus | null = STATUS) {
  const asked: (readonly MaintenanceKind[])[] = [];
  const source = {
    status: async () => status,
    maintain: async (kinds: readonly MaintenanceKind[]) => (asked.push(kinds), status),
  };
  const response = await serveMaintenance(new Request(`http://host/api/${query}`, { method }), source);
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown, asked };
}

test("GET tells, POST runs all or some of the jobs", async () => {
  expect(await ask("GET", "")).toMatchObject({ status: 200, body: STATUS, asked: [] });
  expect(await ask("POST", "")).toMatchObject({ status: 200, body: STATUS });
  expect((await ask("POST", "")).asked).toEqual([["merge", "seal", "prune", "compact", "expire"]]);
  expect((await ask("POST", "?kind=prune&kind=merge")).asked).toEqual([["merge", "prune"]]);
});

test("what cannot be done is said in JSON", async () => {
  expect(await ask("GET", "", null)).toMatchObject({ status: 404, body: { error: { code: "not-found" } } });
  expect(await ask("POST", "", null)).toMatchObject({ status: 404, body: { error: { code: "not-found" } } });
  const unknown = await ask("POST", "?kind=sweep");
  expect(unknown).toMatchObject({ status: 400, body: { error: { code: "bad-request" } }, asked: [] });
  const method = await ask("PUT", "");
  expect(method).toMatchObject({ status: 405, body: { error: { code: "unsupported" } } });
  expect(method.headers.get("allow")).toBe("GET, HEAD, POST");
});
