/** All pages, on screens. */
import { ON_SCREENS, testPages } from "./shown-pages.ts";

testPages(ON_SCREENS);
