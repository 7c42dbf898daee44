import type { Random } from "../../harness/random.ts";

/** Lines that occur many times, with and without indentation: they mislead a diff. */
const FREQUENT_LINES = ["", "", "{", "}", "  }", "    x", "\tfoo", "  bar();", "return", "a", "b", "c", "    ", "x\r"];

/** Lines, at most `vocabulary` different ones. */
export function randomLines(random: Random, count: number, vocabulary: number): string[] {
  return Array.from({ length: count }, () => {
    const word = random.below(vocabulary);
    return FREQUENT_LINES[word] ?? `${"  ".repeat(random.below(3))}w${word}`;
  });
}

/** The lines, with blocks removed, inserted, replaced or copied. */
export function editLines(random: Random, lines: readonly string[], edits: number, vocabulary: number): string[] {
  const result = [...lines];
  for (let i = 0; i < edits; i++) {
    const at = random.below(result.length + 1);
    const length = 1 + random.below(random.below(10) === 0 ? 30 : 4);
    const added = random.below(2) === 0 ? randomLines(random, length, vocabulary) : result.slice(at, at + length);
    switch (random.below(3)) {
      case 0:
        result.splice(at, length);
        break;
      case 1:
        result.splice(random.below(result.length + 1), 0, ...added);
        break;
      default:
        result.splice(at, length, ...randomLines(random, length, vocabulary));
    }
  }
  return result;
}

/** Lines as bytes; sometimes with CR LF, or without an end of the last line. */
export function joinLines(random: Random, lines: readonly string[]): Buffer {
  const newline = random.below(6) === 0 ? "\r\n" : "\n";
  return Buffer.from(lines.join(newline) + (lines.length > 0 && random.below(5) > 0 ? newline : ""));
}

/** A text and an edited version. */
export function randomPair(random: Random, size: number): [Buffer, Buffer] {
  const vocabulary = random.pick([3, 8, 14, 30, 200, 5000]);
  const lines = randomLines(random, random.below(random.pick([5, size, size * 5])), vocabulary);
  const edited =
    random.below(4) > 0
      ? editLines(random, lines, random.below(random.pick([4, 20, size])), vocabulary)
      : randomLines(random, random.below(size), vocabulary);
  return [joinLines(random, lines), joinLines(random, edited)];
}

/** A text and two edited versions, which sometimes share edits. */
export function randomTrio(random: Random, size: number): [base: Buffer, ours: Buffer, theirs: Buffer] {
  const vocabulary = random.pick([3, 8, 14, 30, 200, 5000]);
  const edits = (): number => 1 + random.below(random.pick([3, 10, size]));
  const base = randomLines(random, 1 + random.below(random.pick([5, size, size * 5])), vocabulary);
  const ours = editLines(random, base, edits(), vocabulary);
  const from = random.pick([base, base, ours, [...base.slice(0, base.length >> 1), ...ours.slice(ours.length >> 1)]]);
  const theirs = editLines(random, from, edits(), vocabulary);
  return [joinLines(random, base), joinLines(random, ours), joinLines(random, theirs)];
}
