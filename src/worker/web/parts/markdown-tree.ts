// Changes to the tree of a sanitized Markdown text, so that it fits into a page of the repository.
import type { Element, ElementContent, Properties, Root } from "hast";
import { codeLanguageNamed } from "./code-languages.ts";
import type { StepBudget } from "../../../base/format/step-budget.ts";
import { highlight, lookBudget } from "./highlight.ts";
import { parseHtml } from "./parse-html.ts";

/** Where links and images of a text lead. */
export interface MarkdownLinks {
  /** Resolves an address of the text.
   * @param isImage whether it is loaded, not followed
   * @returns null: it must not be loaded */
  resolve(address: string, isImage: boolean): string | null;
}

/** What the sanitizer puts before each id, so that none is one of the page's. */
const ID_PREFIX = "user-content-";

/** Headings of the text are below those of the page. */
const FIRST_LEVEL = 3;
const LAST_LEVEL = 6;

const HEADING = /^h([1-6])$/;

/** Kinds of a remark. @see https://docs.github.com/en/get-started/writing-on-github (alerts) */
const REMARK = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*\n?/;

/** Before the language's name in the class of a block of code. */
const LANGUAGE_PREFIX = "language-";

const TASK = /^\[([ xX])\] /;

/** Fits a sanitized text into a page: headings are numbered below the page's and get ids, links and
 * images are resolved, lists of tasks get boxes, and what is too wide can be scrolled by
 * keyboard.
 * @throws GitError "too-large" when the budget is spent */
export function fitIntoPage(tree: Root, links: MarkdownLinks, budget: StepBudget): void {
  const fitting = new Fitting(links, budget);
  fitting.visit(tree, false);
}

class Fitting {
  readonly #links: MarkdownLinks;
  readonly #budget: StepBudget;
  /** All blocks of code share what one file may cost. */
  readonly #looks = lookBudget();
  readonly #ids = new Map<string, number>();
  #level = FIRST_LEVEL - 1;

  constructor(links: MarkdownLinks, budget: StepBudget) {
    this.#links = links;
    this.#budget = budget;
  }

  /** @param inLink whether the parent is in a link: links cannot be nested */
  visit(parent: Root | Element, inLink: boolean): void {
    parent.children.forEach((child, i) => {
      if (child.type !== "element") return;
      const isLink = child.tagName === "a";
      const changed = this.#change(child, inLink);
      if (changed !== child) parent.children[i] = changed;
      if (changed.type === "element") this.visit(changed, inLink || isLink);
    });
  }

  #change(element: Element, inLink: boolean): ElementContent {
    const { tagName, properties } = element;
    fitAlignment(properties);
    const heading = HEADING.exec(tagName);
    if (heading !== null) this.#fitHeading(element, Number(heading[1]));
    else if (tagName === "a") this.#fitLink(element);
    else if (tagName === "img") return this.#fitImage(element, inLink);
    else if (tagName === "li") fitTask(element);
    else if (tagName === "blockquote") fitRemark(element);
    else if (tagName === "pre") this.#fitCode(element);
    else if (tagName === "input") properties["ariaLabel"] = "Task";
    return element;
  }

  #fitHeading(element: Element, level: number): void {
    // No level is skipped on the way down.
    this.#level = Math.min(level + FIRST_LEVEL - 1, this.#level + 1, LAST_LEVEL);
    element.tagName = `h${this.#level}`;
    element.properties["id"] ??= ID_PREFIX + this.#idFor(textOf(element));
  }

  /** As GitHub makes the ids of headings. */
  #idFor(text: string): string {
    const slug = text
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
      .replaceAll(" ", "-");
    const before = this.#ids.get(slug);
    this.#ids.set(slug, (before ?? 0) + 1);
    return before === undefined ? slug : `${slug}-${before}`;
  }

  #fitLink({ properties }: Element): void {
    const { href } = properties;
    if (typeof href !== "string") return;
    const to = href.startsWith("#") ? `#${ID_PREFIX}${href.slice(1)}` : this.#links.resolve(href, false);
    if (to === null) delete properties["href"];
    else properties["href"] = to;
    properties["rel"] = ["nofollow", "noopener"];
  }

  /** An image of another site is not loaded: it would tell that site who reads here. What it shows
   * is told, and links to it. */
  #fitImage(element: Element, inLink: boolean): ElementContent {
    const { src, alt } = element.properties;
    const from = typeof src === "string" ? this.#links.resolve(src, true) : null;
    if (from !== null) {
      element.properties["src"] = from;
      element.properties["alt"] ??= "";
      element.properties["loading"] = "lazy";
      return element;
    }
    const text: ElementContent = { type: "text", value: typeof alt === "string" && alt !== "" ? alt : "image" };
    if (inLink || typeof src !== "string") return text;
    return {
      type: "element",
      tagName: "a",
      properties: { href: src, rel: ["nofollow", "noopener"] },
      children: [text],
    };
  }

  /** A block of code is scrolled by keyboard, and coloured if it names its language. */
  #fitCode(block: Element): void {
    block.properties["tabIndex"] = 0;
    const [code] = block.children;
    if (code?.type !== "element" || code.tagName !== "code") return;
    const name = [code.properties["className"]].flat().find((one) => String(one).startsWith(LANGUAGE_PREFIX));
    const language = name === undefined ? null : codeLanguageNamed(String(name).slice(LANGUAGE_PREFIX.length));
    if (language === null) return;
    const coloured = parseHtml(highlight(textOf(code), language, this.#looks).html, this.#budget);
    if (coloured !== null) code.children = coloured.children as ElementContent[];
  }
}

/** HTML has no attribute for it any more, and the pages' policy no styles. */
function fitAlignment(properties: Properties): void {
  const { align } = properties;
  delete properties["align"];
  if (align !== "left" && align !== "center" && align !== "right") return;
  properties["className"] = [properties["className"] ?? [], `to-${align}`].flat() as string[];
}

/** An item that begins with `[ ]` or `[x]` gets a box. */
function fitTask(item: Element): void {
  const first = item.children.find((child) => child.type !== "text" || child.value.trim() !== "");
  const holder = first?.type === "element" && first.tagName === "p" ? first : item;
  const start = holder.children.find((child) => child.type !== "text" || child.value.trim() !== "");
  const task = start?.type === "text" ? TASK.exec(start.value) : null;
  if (start?.type !== "text" || task === null) return;
  start.value = start.value.slice(task[0].length);
  item.properties["className"] = ["task"];
  const properties = { type: "checkbox", disabled: true, checked: task[1] !== " ", ariaLabel: "Task" };
  holder.children.unshift({ type: "element", tagName: "input", properties, children: [] });
}

/** A quotation that begins with `[!NOTE]` or the like is a remark, with this word as its title. */
function fitRemark(quotation: Element): void {
  const first = quotation.children.find((child) => child.type === "element");
  const start = first?.type === "element" ? first.children[0] : undefined;
  const remark = start?.type === "text" ? REMARK.exec(start.value) : null;
  if (start?.type !== "text" || remark === null) return;
  start.value = start.value.slice(remark[0].length);
  const kind = remark[1]!.toLowerCase();
  quotation.properties["className"] = ["remark", `remark-${kind}`];
  const title = kind[0]!.toUpperCase() + kind.slice(1);
  const strong: ElementContent = {
    type: "element",
    tagName: "strong",
    properties: {},
    children: [{ type: "text", value: title }],
  };
  quotation.children.unshift({ type: "element", tagName: "p", properties: {}, children: [strong] });
}

function textOf(node: ElementContent): string {
  if (node.type === "text") return node.value;
  return node.type === "element" ? node.children.map(textOf).join("") : "";
}
