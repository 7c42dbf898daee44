import { beforeEach, expect, test } from "vitest";
import { MAX_TOKENS } from "../../../../src/base/format/table-limits.ts";
import { SHOWN_EXPIRED_MS, TOKEN_TABLE, TokenTable } from "../../../../src/object/store/registry/token-table.ts";
import { NodeSql } from "../../sqlite.ts";

const NOW = 1_800_000_000_000;
const SCOPE = { owner: "me" };

let sql: NodeSql;
let tokens: TokenTable;
beforeEach(() => {
  sql = new NodeSql();
  sql.exec(TOKEN_TABLE);
  tokens = new TokenTable(sql);
});

const create = (id: string, expiresMs: number | null, nowMs = NOW) =>
  tokens.create({ id, name: id, scope: SCOPE, right: "read", refs: null, expiresMs }, `hash of ${id}`, nowMs);
const listed = (nowMs: number): string[] => tokens.list(SCOPE, "", MAX_TOKENS, nowMs).map(({ id }) => id);
const stored = (): number => sql.exec<{ n: number }>("SELECT count(*) AS n FROM tokens").one().n;

test("an expired token is worth nothing, is shown for a day, and then goes", () => {
  create("lasting", null);
  create("short", NOW + 1_000);
  expect(tokens.use("hash of short", NOW + 999)?.id).toBe("short");
  expect(tokens.use("hash of short", NOW + 1_000)).toBeNull();

  const last = NOW + 1_000 + SHOWN_EXPIRED_MS;
  expect(listed(last - 1)).toEqual(["lasting", "short"]);
  expect(tokens.read("short", last - 1)?.id).toBe("short");
  expect(tokens.findUnknown(["short"], "me", "", last - 1)).toEqual([]);

  expect(listed(last)).toEqual(["lasting"]);
  expect(tokens.read("short", last)).toBeNull();
  expect(tokens.findUnknown(["short", "lasting"], "me", "", last)).toEqual(["short"]);
  create("next", null, last);
  expect([listed(last), stored()]).toEqual([["lasting", "next"], 2]);
});

test("tokens that expired long ago keep nobody from making others", () => {
  for (let i = 0; i < MAX_TOKENS; i++) expect(create(`short ${i}`, NOW + 1_000 + i)).not.toBeNull();
  expect(create("one more", null)).toBeNull();
  const later = NOW + 2_000 + SHOWN_EXPIRED_MS;
  expect(create("one more", null, later)?.id).toBe("one more");
  // Each removes more than it adds.
  for (let i = 0; i < 20; i++) create(`more ${i}`, null, later);
  expect([listed(later).length, stored()]).toEqual([21, 21]);
});
