// Changes to the tree of a sanitized Markdown text, so that it fits into a page of the repository.
import type { Element, ElementContent, Properties, Root } from "hast";
import { codeLanguageNamed } from "./code-languages.ts";
import type { StepBudget } from "../../../base/format/step-budget.ts";
import { highlight, lookBudget } from "./highlight.ts";
import { parseHtml } from "./parse-html.ts";

/** Targets of a text's links and images. */
export interface MarkdownLinks {
  /** Resolves an address of the text.
   * @param isImage whether the browser loads it without a click
   * @returns null: it must not be loaded */
  resolve(address: string, isImage: boolean): string | null;
}

/** The sanitizer's prefix of each id, which keeps it apart from the page's own ids. */
const ID_PREFIX = "user-content-";

/** Levels of the text's headings, below those of the page. */
const FIRST_LEVEL = 3;
const LAST_LEVEL = 6;

const HEADING = /^h([1-6])$/;

/** First line of an alert. @see https://docs.github.com/en/get-started/writing-on-github
 * (alerts) */
const REMARK = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*\n?/;

/** Prefix of the language's name in the class of a code block. */
const LANGUAGE_PREFIX = "language-";

const TASK = /^\[([ xX])\] /;

/** Fits a sanitized text into a page: headings are put below the page's and get ids, links and
 * images are resolved, task lists get checkboxes, and wide blocks can be scrolled by keyboard.
 * @throws GitError "too-large" when the budget is spent */
export function fitIntoPage(tree: Root, links: MarkdownLinks, budget: StepBudget): void {
  const fitting = new Fitting(links, budget);
  fitting.visit(tree, false);
}

class Fitting {
  readonly #links: MarkdownLinks;
  readonly #budget: StepBudget;
  /** Work budget that all code blocks of a file share. */
  readonly #looks = lookBudget();
  readonly #ids = new Map<string, number>();
  #level = FIRST_LEVEL - 1;

  constructor(links: MarkdownLinks, budget: StepBudget) {
    this.#links = links;
    this.#budget = budget;
  }

  /** @param inLink whether the parent is inside a link: links cannot be nested */
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
    // No level is skipped downwards.
    this.#level = Math.min(level + FIRST_LEVEL - 1, this.#level + 1, LAST_LEVEL);
    element.tagName = `h${this.#level}`;
    element.properties["id"] ??= ID_PREFIX + this.#idFor(textOf(element));
  }

  /** Makes the id of a heading, as GitHub does. */
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

  /** Replaces an image of another site by its description with a link: loading it would reveal the
   * reader to that site. */
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

  /** Makes a code block scrollable by keyboard, and colours it if it names its language. */
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

/** Replaces `align` by a class: the attribute is obsolete in HTML, and the pages' policy forbids
 * styles. */
function fitAlignment(properties: Properties): void {
  const { align } = properties;
  delete properties["align"];
  if (align !== "left" && align !== "center" && align !== "right") return;
  properties["className"] = [properties["className"] ?? [], `to-${align}`].flat() as string[];
}

/** Replaces `[ ]` or `[x]` at the beginning of an item by a checkbox. */
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

/** Turns a quotation that begins with `[!NOTE]` or a similar word into an alert with this title. */
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
