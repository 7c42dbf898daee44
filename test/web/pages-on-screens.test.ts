/** All pages, on screens. */
import { testPages } from "./shown-pages.ts";

testPages([
  { name: "light, with scripts, on a screen", scheme: "light", scripts: true, width: 1_280 },
  { name: "dark, without scripts, on a screen", scheme: "dark", scripts: false, width: 1_280 },
]);
