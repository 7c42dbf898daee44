import { test } from "vitest";
import { makeHostileHistory } from "../harness/hostile-history.ts";
import { expectAnswers } from "./answered-histories.ts";

/** A small history of most shapes, and a text whose versions take long to compare. */
const SEEDS = [94, 129, 100, 15, 93, 35, 8, 106, 33, 46, 24, 308];

test("whatever is asked of small hostile histories is answered in its bounds", () =>
  expectAnswers(SEEDS, makeHostileHistory));
