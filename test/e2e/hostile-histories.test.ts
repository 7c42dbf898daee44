// Random small histories that git accepts although nobody would write them. Each is read by every
// route, every page and every kind of fetch: answers come in bounded time, memory and size, and
// other requests are served meanwhile. `hostile-histories.sweep.test.ts` has more shapes,
// `test/large/hostile-histories.test.ts` runs a thousand of them.
import { test } from "vitest";
import { makeHostileHistory } from "../harness/hostile-history.ts";
import { expectAnswers } from "./answered-histories.ts";

/** A small history. */
const SEEDS = [90];

test("whatever is asked of small hostile histories is answered in its bounds", { tags: "sweep" }, () =>
  expectAnswers(SEEDS, makeHostileHistory),
);
