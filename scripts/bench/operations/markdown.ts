/** Tables in Markdown, and pages that have places for them. */

/** A table in GitHub's Markdown. @param numbers columns that are aligned to the right */
export function formatMarkdown(rows: readonly (readonly string[])[], numbers: readonly number[]): string {
  const [head = [], ...body] = rows;
  const rule = head.map((_, column) => (numbers.includes(column) ? "--:" : "---"));
  return [head, rule, ...body].map((row) => `| ${row.join(" | ")} |\n`).join("");
}

/** Puts tables into their places on a page, between `<!-- table: NAME -->` and `<!-- end -->`.
 * @throws Error if a place is for a table that is not there */
export function fillTables(page: string, tables: Readonly<Record<string, string>>): string {
  return page.replace(
    /(<!-- table: (\S+) -->\n)[^]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      const table = tables[name];
      if (table === undefined) throw new Error(`there is no table ${name}`);
      return `${start}\n${table}\n${end}`;
    },
  );
}
