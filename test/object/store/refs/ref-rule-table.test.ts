import { expect, test } from "vitest";
import { RefRuleTable } from "../../../../src/object/store/refs/ref-rule-table.ts";
import { Tables } from "../../../../src/object/store/tables.ts";
import { PushedRepository } from "../../pushing.ts";
import { NodeSql } from "../../sqlite.ts";

const RULE = {
  pattern: "refs/heads/a",
  noForce: true,
  noDelete: false,
  fastForwardOnly: false,
  allowedTokens: null,
  requiredContexts: [],
};

test("rules are kept in their order, and replaced as a whole", () => {
  const table = new RefRuleTable(new NodeSql());
  const rules = [
    RULE,
    { ...RULE, pattern: "refs/**", noDelete: true, allowedTokens: ["b", "a"], requiredContexts: ["ci/ü", "lint"] },
    RULE,
  ];
  table.replace(rules);
  expect(table.all()).toEqual(rules);
  table.replace([RULE]);
  expect(table.all()).toEqual([RULE]);
});

test("a repository from before there were rules has none, and takes some", async () => {
  const { sql, repository } = new PushedRepository();
  await repository.create("main");
  sql.exec("DROP TABLE ref_rules");
  const { refRules } = new Tables(sql);
  expect(refRules.all()).toEqual([]);
  refRules.replace([RULE]);
  expect(refRules.all()).toEqual([RULE]);
});
