import { test } from "vitest";
import { makeHostileFields } from "../harness/hostile-fields.ts";
import { makeHostileHistory } from "../harness/hostile-history.ts";
import { expectAnswers } from "./answered-histories.ts";

/** A small history of most shapes, a text whose versions take long to compare, trees that expand to
 * many directories before they have a file, and hundreds of commits without parents that share their
 * root or files. */
const SEEDS = [94, 129, 100, 15, 93, 35, 8, 106, 33, 46, 24, 308, 91, 187, 291];

test("whatever is asked of small hostile histories is answered in its bounds", () =>
  expectAnswers(SEEDS, makeHostileHistory));

/** Each kind of field that may be too long, or there too often. */
const FIELD_SEEDS = [2, 8, 12, 16, 18, 20, 26, 28, 30, 34, 36, 38, 44, 46, 52, 58, 88];

test("whatever is asked of histories with hostile fields is answered in its bounds", () =>
  expectAnswers(FIELD_SEEDS, makeHostileFields));
