import { type DefaultTreeAdapterTypes, parse } from "parse5";

type Element = DefaultTreeAdapterTypes.Element;

/** Elements that hold only text and what is in its lines. */
const PHRASING = new Set(["a", "span", "p", "label", "summary", "button", "h1", "h2", "h3", "h4", "h5", "h6", "bdi"]);

/** Elements that may not be in those. A browser's parser takes most out of a `p` by itself. */
const FLOW = new Set([
  "details",
  "div",
  "section",
  "table",
  "ul",
  "ol",
  "form",
  "figure",
  "pre",
  "fieldset",
  "article",
]);

/** Elements that a label may name. */
const CONTROLS = new Set(["button", "input", "meter", "output", "progress", "select", "textarea"]);

/** What is not valid in a page's HTML: ids that are there twice, labels of no control, elements in
 * such as may not hold them, figures whose caption is in their middle, attributes that are gone.
 * @see https://html.spec.whatwg.org/multipage/dom.html#content-models */
export function findHtmlFaults(html: string): string[] {
  const faults: string[] = [];
  const ids = new Map<string, Element>();
  const labels: string[] = [];
  const visit = (element: Element, above: readonly string[]): void => {
    const { tagName, childNodes } = element;
    const attributes = new Map(element.attrs.map(({ name, value }) => [name, value]));
    const [id, named] = [attributes.get("id"), attributes.get("for")];
    if (id !== undefined && ids.has(id)) faults.push(`the id ${id} is there twice`);
    if (id !== undefined) ids.set(id, element);
    if (tagName === "label" && named !== undefined) labels.push(named);
    const holder = above.at(-1)!;
    const isLinkAround = holder === "a" && !above.slice(0, -1).some((name) => PHRASING.has(name));
    if (FLOW.has(tagName) && PHRASING.has(holder) && !isLinkAround) faults.push(`<${tagName}> in <${holder}>`);
    if (/^h[1-6]$/.test(tagName) && above.includes("th")) faults.push(`<${tagName}> in <th>`);
    if (attributes.has("align") || attributes.get("wrap") === "off") faults.push(`an old attribute of <${tagName}>`);
    const children = childNodes.filter((child): child is Element => "tagName" in child);
    const caption = children.findIndex((child) => child.tagName === "figcaption");
    if (tagName === "figure" && caption > 0 && caption < children.length - 1) faults.push("a caption amid its figure");
    for (const child of children) visit(child, [...above, tagName]);
  };
  const root = parse(html).childNodes.find((child): child is Element => "tagName" in child)!;
  visit(root, ["#document"]);
  for (const named of labels)
    if (!CONTROLS.has(ids.get(named)?.tagName ?? "")) faults.push(`a label of ${named}, which is no control`);
  return faults;
}
