import { test } from "vitest";
import { expectAsGit } from "./random-ref-names.ts";

test("agrees with git check-ref-format on random names", () => expectAsGit(2_000));
