import {
  type DefaultTreeAdapterMap,
  type DefaultTreeAdapterTypes,
  defaultTreeAdapter,
  parseFragment,
  type TreeAdapter,
} from "parse5";
import { fromParse5 } from "hast-util-from-parse5";
import type { Root } from "hast";

/** Elements of a text. A text of 128 KiB has some 20,000; but where `<b id=1>`, `<b id=2>` and so
 * on are left open, a browser opens all of them again in each paragraph: 16 KB become a million. */
const MAX_ELEMENTS = 60_000;

/** Levels of elements. Trees are walked by recursion, and no text needs more. */
const MAX_DEPTH = 200;

class TooMuch extends Error {}

/** Parses HTML as a browser does.
 * @returns null: it has too many elements, or they are nested too deeply */
export function parseHtml(html: string): Root | null {
  let count = 0;
  const treeAdapter: TreeAdapter<DefaultTreeAdapterMap> = {
    ...defaultTreeAdapter,
    createElement(...args) {
      if (++count > MAX_ELEMENTS) throw new TooMuch();
      return defaultTreeAdapter.createElement(...args);
    },
  };
  try {
    const fragment = parseFragment(html, { treeAdapter });
    return isDeeperThan(fragment, MAX_DEPTH) ? null : (fromParse5(fragment) as Root);
  } catch (error) {
    if (error instanceof TooMuch) return null;
    throw error;
  }
}

/** Whether elements are nested deeper than a limit, found without recursion. */
function isDeeperThan(tree: DefaultTreeAdapterTypes.ParentNode, limit: number): boolean {
  let level: DefaultTreeAdapterTypes.ChildNode[] = tree.childNodes;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((child) =>
      // What is in a template is not among its children.
      "content" in child ? child.content.childNodes : "childNodes" in child ? child.childNodes : [],
    );
  }
  return false;
}
