import type { ProtectedRefs } from "../../../base/access/ref-rules.ts";
import type { Sql } from "../sql/sql.ts";

/** Created when a repository is opened, since older ones lack it. */
const TABLE = `
CREATE TABLE IF NOT EXISTS ref_rules (
  position INTEGER PRIMARY KEY,
  pattern TEXT NOT NULL,                 -- for full names; byte string
  no_force INTEGER NOT NULL,
  no_delete INTEGER NOT NULL,
  fast_forward_only INTEGER NOT NULL,
  allowed_tokens TEXT,                   -- JSON, ids; NULL: everyone with the right to write
  required_contexts TEXT NOT NULL        -- JSON
);
`;

interface Row extends Record<string, string | number | null> {
  readonly pattern: string;
  readonly noForce: number;
  readonly noDelete: number;
  readonly fastForwardOnly: number;
  readonly allowedTokens: string | null;
  readonly requiredContexts: string;
}

/** The repository's rules for protected refs: table `ref_rules`. */
export class RefRuleTable {
  readonly #sql: Sql;

  /** Creates the table if needed. */
  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(TABLE);
  }

  /** All rules, in order. */
  all(): ProtectedRefs[] {
    const rows = this.#sql.exec<Row>(
      `SELECT pattern, no_force AS noForce, no_delete AS noDelete, fast_forward_only AS fastForwardOnly,
        allowed_tokens AS allowedTokens, required_contexts AS requiredContexts FROM ref_rules ORDER BY position`,
    );
    return rows.toArray().map(({ pattern, noForce, noDelete, fastForwardOnly, allowedTokens, requiredContexts }) => ({
      pattern,
      noForce: noForce === 1,
      noDelete: noDelete === 1,
      fastForwardOnly: fastForwardOnly === 1,
      allowedTokens: allowedTokens === null ? null : (JSON.parse(allowedTokens) as string[]),
      requiredContexts: JSON.parse(requiredContexts) as string[],
    }));
  }

  /** Replaces all rules; must run in a transaction. */
  replace(rules: readonly ProtectedRefs[]): void {
    this.#sql.exec("DELETE FROM ref_rules");
    for (const [position, rule] of rules.entries()) {
      const { pattern, noForce, noDelete, fastForwardOnly, allowedTokens, requiredContexts } = rule;
      this.#sql.exec(
        `INSERT INTO ref_rules (position, pattern, no_force, no_delete, fast_forward_only, allowed_tokens,
          required_contexts) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        position,
        pattern,
        Number(noForce),
        Number(noDelete),
        Number(fastForwardOnly),
        allowedTokens === null ? null : JSON.stringify(allowedTokens),
        JSON.stringify(requiredContexts),
      );
    }
  }
}
