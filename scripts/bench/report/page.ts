/** The page: prose by hand, with places that are filled by figures. */

/** A place of the page: `<!-- table: NAME -->` or `<!-- chart: NAME -->` to `<!-- end -->`. */
const PLACE = /<!-- (table|chart): ([\w-]+) -->\n[\s\S]*?<!-- end -->/g;

/** Names by kind. */
export interface Places {
  readonly table: ReadonlySet<string>;
  readonly chart: ReadonlySet<string>;
}

/** The places of a page. */
export function listPlaces(page: string): Places {
  const found = [...page.matchAll(PLACE)].map(([, kind, name]) => ({ kind, name: name! }));
  const ofKind = (wanted: string): Set<string> =>
    new Set(found.filter(({ kind }) => kind === wanted).map(({ name }) => name));
  return { table: ofKind("table"), chart: ofKind("chart") };
}

/** Fills every place of a page anew.
 * @param fill gives Markdown that ends with a newline
 * @throws Error if a place is not closed before the next one opens */
export function fillPage(page: string, fill: (kind: "table" | "chart", name: string) => string): string {
  return page.replaceAll(PLACE, (place: string, kind: "table" | "chart", name: string) => {
    if (place.split("<!-- ").length > 3) throw new Error(`the ${kind} ${name} has no end before the next one begins`);
    return `<!-- ${kind}: ${name} -->\n\n${fill(kind, name)}\n<!-- end -->`;
  });
}

/** The anchors that the prose sets by hand: `<a id="NAME"></a>`. */
export function listAnchors(page: string): Set<string> {
  return new Set([...page.matchAll(/<a id="([\w-]+)"><\/a>/g)].map(([, name]) => name!));
}
