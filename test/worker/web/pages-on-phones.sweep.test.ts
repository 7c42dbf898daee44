/** All pages, on phones. */
import { ON_PHONES, testPages } from "./shown-pages.ts";

testPages(ON_PHONES);
