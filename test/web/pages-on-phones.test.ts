/** All pages, on phones. */
import { testPages } from "./shown-pages.ts";

testPages([
  { name: "dark, with scripts, on a phone", scheme: "dark", scripts: true, width: 360 },
  { name: "light, without scripts, on the smallest phone", scheme: "light", scripts: false, width: 320 },
]);
