import { describe, test } from "vitest";

/** Declares a test of many cases, of which `npm test` runs the first few, and the sweep the others.
 * @param name with a `%` for the case, as `test.each` has it */
export function testSome<Case>(
  few: number,
  cases: readonly Case[],
  name: string,
  run: (one: Case) => Promise<void> | void,
): void {
  test.for(cases.slice(0, few))(name, (one) => run(one));
  test.for(cases.slice(few))(name, { tags: "sweep" }, (one) => run(one));
}

/** The same for a group of tests. */
export function describeSome<Case>(
  few: number,
  cases: readonly Case[],
  name: string,
  declare: (one: Case) => void,
): void {
  describe.for(cases.slice(0, few))(name, (one) => declare(one));
  describe.for(cases.slice(few))(name, { tags: "sweep" }, (one) => declare(one));
}
