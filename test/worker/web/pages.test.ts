/** Every page is shown once: with scripts or without, on a phone or on a screen, by turns. axe
 * looks at those with scripts, at each page in one state.
 * `pages-on-phones.sweep.test.ts` and `pages-on-screens.sweep.test.ts` show each in all ways. */
import { expect, test } from "vitest";
import { PAGE_ROUTES } from "../../../src/worker/web/app.ts";
import { PAGES } from "./pages.ts";
import { ON_PHONES, ON_SCREENS, testPages } from "./shown-pages.ts";

const WAYS = [...ON_PHONES, ...ON_SCREENS];

testPages(
  WAYS,
  // Names with a comma are of another state of a page.
  (page, way) => page % WAYS.length === way && !PAGES[page]!.name.includes(","),
);

/** Rows of `PAGE_ROUTES` that answer with no page of their own: files, feeds, a stream, and what
 * leads to the path without the slash. */
const NO_PAGES = /^\/:owner\/:repo\/(?:raw\/\*|archive\/\*|feed\/\*|live)?$/;

test("every page is walked through", () => {
  const routes = PAGE_ROUTES.filter(({ method }) => method === "GET").map(({ path }) => ({
    path,
    pattern: new RegExp(`^${path.replace(/\/\*$/, "(?:/.*)?").replaceAll(/:\w+/g, "[^/]+")}$`),
  }));
  const shown = new Set(
    PAGES.map((page) => routes.find(({ pattern }) => pattern.test(page.path.replace(/\?.*/, "")))?.path),
  );
  const pages = routes.map(({ path }) => path).filter((path) => !NO_PAGES.test(path));
  expect(pages.filter((path) => !shown.has(path))).toEqual([]);
  expect(pages.length).toBeGreaterThan(30);
});
