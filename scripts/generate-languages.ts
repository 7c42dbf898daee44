/** Writes `src/base/languages/languages.json`: the twentieth of linguist-languages that the
 * server needs. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as linguist from "linguist-languages";
import { readCommandLine } from "./command-line.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/generate-languages.ts [--check]

Writes src/base/languages/languages.json from the package linguist-languages. Each row is one
language: its id, name, type, color (or null), extensions, and file names. --check only compares
the file, and ends with status 1 if it differs.
`;

const FILE = join(import.meta.dirname, "../src/base/languages/languages.json");

const { values } = readCommandLine({ options: { check: { type: "boolean" }, help: { type: "boolean" } } });
if (values.help === true) {
  console.log(USAGE);
} else {
  const rows = Object.values(linguist)
    .map((one): linguist.Language => one)
    .filter(({ extensions = [], filenames = [] }) => extensions.length + filenames.length > 0)
    .map(({ languageId, name, type, color = null, extensions = [], filenames = [] }) =>
      JSON.stringify([languageId, name, type, color, extensions, filenames]),
    );
  const text = `[\n${rows.join(",\n")}\n]\n`;
  if (values.check !== true) writeFileSync(FILE, text);
  else if (readFileSync(FILE, "utf8") !== text) {
    console.error("languages.json differs from the package linguist-languages");
    process.exitCode = 1;
  }
}
