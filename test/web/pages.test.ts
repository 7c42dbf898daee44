/** Every page is shown once with scripts, on a phone or on a screen by turns, and some without. axe
 * looks at each page in one state.
 * `pages-on-phones.sweep.test.ts` and `pages-on-screens.sweep.test.ts` show each in all ways. */
import { ON_PHONES, ON_SCREENS, testPages } from "./shown-pages.ts";

/** Of so many pages one is shown without scripts, in each way. */
const WITHOUT_SCRIPTS = 10;

testPages(
  [ON_PHONES[0], ON_SCREENS[0], ON_PHONES[1], ON_SCREENS[1]],
  (page, way) => (way < 2 ? page % 2 === way : page % WITHOUT_SCRIPTS === way),
  // axe takes most of the time: names with a comma are of another state of a page.
  (name) => !name.includes(","),
);
