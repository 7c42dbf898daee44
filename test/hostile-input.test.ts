import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const PROJECT = join(import.meta.dirname, "..");

/** The tests that the page names: file and title. */
const named = readFileSync(join(PROJECT, "docs/hostile-input.md"), "utf8")
  .split("\n")
  .filter((line) => /^\| .*`[\w/.-]+`: /.test(line))
  .flatMap((line) => [...line.matchAll(/`([\w/.-]+)`: (.*?)(?=; `[\w/.-]+`: | \|$)/g)])
  .map(([, file, titles]) => ({ file: file!, titles: titles!.trim().split("; ") }));

/** The parts of a title that its file contains. Tables compose titles, so parts separated by a
 * colon or a quote may be apart in the file, as may `commit` and fsck's message id. */
function partsOf(title: string): string[] {
  return title
    .split(/…|: |"/)
    .flatMap((part) => (/^(?:commit|tag) [a-z]+[A-Z]\w+$/.test(part) ? part.split(" ") : [part]))
    .filter((part) => part.trim() !== "");
}

/** A test's file with those beside it that it imports, which may have its tables; null: there is no
 * such test. */
function readTest(path: string): string | null {
  if (!existsSync(path)) return null;
  const source = readFileSync(path, "utf8");
  const beside = [...source.matchAll(/ from "(\.\/[\w.-]+\.ts)";/g)].map(([, file]) => join(dirname(path), file!));
  return [source, ...beside.map((file) => readFileSync(file, "utf8"))].join("\n");
}

test("the page of hostile input names no test that is not there", () => {
  expect(named.length).toBeGreaterThan(120);
  const missing: string[] = [];
  for (const { file, titles } of named) {
    const source = readTest(join(PROJECT, "test", `${file}.test.ts`));
    for (const title of titles) {
      if (!partsOf(title).every((part) => source?.includes(part) === true)) missing.push(`${file}: ${title}`);
    }
  }
  expect(missing).toEqual([]);
});
