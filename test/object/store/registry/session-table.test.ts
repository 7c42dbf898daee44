import { beforeEach, expect, test } from "vitest";
import { MAX_SESSIONS } from "../../../../src/base/format/table-limits.ts";
import { SESSION_TABLE, SessionTable } from "../../../../src/object/store/registry/session-table.ts";
import { NodeSql } from "../../sqlite.ts";

let sql: NodeSql;
let sessions: SessionTable;
beforeEach(() => {
  sql = new NodeSql();
  sql.exec(SESSION_TABLE);
  sessions = new SessionTable(sql);
});

const count = (): number => sql.exec<{ n: number }>("SELECT count(*) AS n FROM sessions").one().n;

test("a session is its token's or the operator's, until it expires or ends", () => {
  sessions.create("a", { token: "t" }, 100, 0);
  sessions.create("b", { proof: "p" }, 200, 0);
  expect(sessions.find("a", 99)).toEqual({ holder: { token: "t" }, expiresMs: 100 });
  expect(sessions.find("b", 99)).toEqual({ holder: { proof: "p" }, expiresMs: 200 });
  expect(sessions.find("a", 100)).toBeNull();
  sessions.end("b");
  expect(sessions.find("b", 99)).toBeNull();
});

test("the oldest of a token's sessions goes for a further one, and nobody else's", () => {
  sessions.create("other", { token: "u" }, 1_000, 0);
  sessions.create("operator", { proof: "p" }, 1_000, 0);
  for (let i = 0; i <= MAX_SESSIONS; i++) sessions.create(`s${i}`, { token: "t" }, 1_000, i);
  expect(sessions.find("s0", 50)).toBeNull();
  for (const kept of ["s1", `s${MAX_SESSIONS}`, "other", "operator"]) expect(sessions.find(kept, 50)).not.toBeNull();
  for (let i = 0; i <= MAX_SESSIONS; i++) sessions.create(`o${i}`, { proof: "p" }, 1_000, 10 + i);
  expect(sessions.find("operator", 50)).toBeNull();
  expect(count()).toBe(2 * MAX_SESSIONS + 1);
});

test("expired sessions go when others are made, and all of a token's when it is revoked", () => {
  sessions.create("a", { token: "t" }, 10, 0);
  sessions.create("b", { token: "u" }, 100, 10);
  expect(count()).toBe(1);
  sessions.create("c", { token: "u" }, 100, 20);
  sessions.create("d", { token: "v" }, 100, 20);
  sessions.endAllOf("u");
  expect(sessions.find("d", 30)).not.toBeNull();
  expect(count()).toBe(1);
});
