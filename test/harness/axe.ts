/** axe, which looks for what keeps people from using a page. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Runs what axe runs by default and, of what it leaves out, the rules of WCAG 2.2 AA: links and
 * buttons are large enough for a finger. Of what is right it describes one element a rule, since to
 * describe all takes longer than to look. */
const RUN = `axe.run(document, {
  resultTypes: ["violations"],
  rules: Object.fromEntries(axe.getRules(["wcag22aa"]).map(({ ruleId }) => [ruleId, { enabled: true }])),
}).then(({ violations }) => violations)`;

/** A fault, as axe tells it. */
interface Fault {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe finds on a page that runs scripts: rules, each with the elements that break it. */
export async function findFaults(page: Page): Promise<unknown[]> {
  // Evaluated through the debugger, to which the page's policy does not apply.
  await page.evaluate(AXE);
  const faults = await page.evaluate<Fault[]>(RUN);
  return faults.map(({ id, help, nodes }) => [
    id,
    help,
    nodes.map(({ html, failureSummary }) => [html, failureSummary]),
  ]);
}
