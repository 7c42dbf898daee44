/** Compares what the server answered with what git says. */
import { WrongAnswer } from "./tally.ts";

/** Enough of a value to know it by. */
const SHOWN_CHARACTERS = 120;

/** @throws WrongAnswer with both, from a little before where they differ */
export function demandSame(what: string, actual: string, expected: string): void {
  if (actual === expected) return;
  const at = findDifference(actual, expected);
  const show = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 20), at + SHOWN_CHARACTERS));
  throw new WrongAnswer(`${what}: ${show(actual)} at ${at} and not ${show(expected)}`);
}

/** @throws WrongAnswer that says where they differ */
export function demandSameBytes(what: string, actual: Buffer, expected: Buffer): void {
  if (actual.equals(expected)) return;
  const at = findDifference(actual, expected);
  throw new WrongAnswer(
    `${what}: ${actual.length} bytes that differ at ${at} (${actual[at]} and not ${expected[at]}) from the ${expected.length} of git`,
  );
}

function findDifference<Sequence extends { readonly length: number; readonly [index: number]: unknown }>(
  one: Sequence,
  other: Sequence,
): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}
