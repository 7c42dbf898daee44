import {
  type DefaultTreeAdapterMap,
  type DefaultTreeAdapterTypes,
  defaultTreeAdapter,
  parseFragment,
  type TreeAdapter,
} from "parse5";
import type { StepBudget } from "../../../base/format/step-budget.ts";
import { fromParse5 } from "hast-util-from-parse5";
import type { Root } from "hast";

/** Steps per element: it is parsed, sanitized, fitted and written. A text of 128 KiB has some
 * 20,000. But where `<b id=1>`, `<b id=2>` and so on stay open, a browser reopens all of them in
 * each paragraph: 16 KB become a million. */
const STEPS_PER_ELEMENT = 12;

/** Maximum depth of elements. Trees are walked by recursion, the parser searches all open elements
 * at many tags, and no real text needs more. */
const MAX_DEPTH = 200;

class TooDeep extends Error {}

/** Parses HTML as a browser does.
 * @returns null: elements are nested too deeply
 * @throws GitError "too-large" when the budget is spent */
export function parseHtml(html: string, budget: StepBudget): Root | null {
  let depth = 0;
  const treeAdapter: TreeAdapter<DefaultTreeAdapterMap> = {
    ...defaultTreeAdapter,
    createElement(...args) {
      budget.spend(STEPS_PER_ELEMENT);
      return defaultTreeAdapter.createElement(...args);
    },
    onItemPush() {
      if (++depth > MAX_DEPTH) throw new TooDeep();
    },
    onItemPop() {
      depth -= 1;
    },
  };
  try {
    const fragment = parseFragment(html, { treeAdapter });
    return isDeeperThan(fragment, MAX_DEPTH) ? null : (fromParse5(fragment) as Root);
  } catch (error) {
    if (error instanceof TooDeep) return null;
    throw error;
  }
}

/** Whether elements are nested deeper than a limit, found without recursion. */
function isDeeperThan(tree: DefaultTreeAdapterTypes.ParentNode, limit: number): boolean {
  let level: DefaultTreeAdapterTypes.ChildNode[] = tree.childNodes;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((child) =>
      // The content of a template is not among its children.
      "content" in child ? child.content.childNodes : "childNodes" in child ? child.childNodes : [],
    );
  }
  return false;
}
