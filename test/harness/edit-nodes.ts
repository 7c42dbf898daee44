import { openNodes, type StoredNode } from "../../src/object/store/index/node-pages.ts";
import { NumberSet } from "../../src/base/numbers/number-set.ts";
import type { Sql } from "../../src/object/store/sql/sql.ts";

/** Changes a stored node, as damage would.
 * @param change returns the new node; null: it is removed */
export function editNode(sql: Sql, number: number, change: (node: StoredNode) => StoredNode | null): void {
  const pages = sql.exec<{ first: number; last: number }>("SELECT first, last FROM commits").toArray();
  for (const { first, last } of pages) {
    const nodes = [...openNodes(sql).read(NumberSet.range(first, last + 1))];
    const changed = nodes.flatMap((node) => (node.number === number ? (change(node) ?? []) : [node]));
    sql.exec(
      "UPDATE commits SET count = ?, parents = ?, nodes = ? WHERE first = ?",
      changed.length,
      changed.reduce((sum, { parents }) => sum + parents.length, 0),
      openNodes(sql).encode(changed, 0),
      first,
    );
  }
}
