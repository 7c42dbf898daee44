import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { makeTempDir } from "../harness/temp-dir.ts";

const run = promisify(execFile);
const project = resolve(import.meta.dirname, "../..");

interface Settings {
  jsPlugins: string[];
  overrides: { files: string[]; rules: Record<string, unknown> }[];
}

/** What the linter, with the project's order of rooms, says of one file that imports another. */
async function lint(file: string, imported: string): Promise<string> {
  const dir = makeTempDir("rooms");
  const settings = JSON.parse(readFileSync(join(project, ".oxlintrc.json"), "utf8")) as Settings;
  const { rules } = settings.overrides.find(({ files }) => files.includes("src/**"))!;
  const config = {
    jsPlugins: [join(project, "scripts/lint/rooms.ts")],
    rules: { "rooms/order": rules["rooms/order"] },
  };
  writeFileSync(join(dir, ".oxlintrc.json"), JSON.stringify(config));
  for (const path of [file, imported]) {
    mkdirSync(join(dir, dirname(path)), { recursive: true });
    writeFileSync(join(dir, path), "export const value = 1;\n");
  }
  const up = "../".repeat(file.split("/").length - 1);
  writeFileSync(join(dir, file), `export { value } from "${up}${imported}";\n`);
  // It ends with 1 where it finds something.
  const { stdout } = await run(join(project, "node_modules/.bin/oxlint"), ["src"], { cwd: dir }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

test.each([
  ["src/repository/push/a.ts", "src/repository/pacing/b.ts"],
  ["src/repository/push/a.ts", "src/repository/push/b.ts"],
  ["src/repository/calls.ts", "src/repository/commit/b.ts"],
  ["src/store/graph/a.ts", "src/store/sql/b.ts"],
  ["src/host/a.ts", "src/rest/b.ts"],
])("%s may import %s", async (file, imported) => {
  expect(await lint(file, imported)).toContain("Found 0 warnings and 0 errors");
});

test.each([
  ["src/repository/pacing/a.ts", "src/repository/push/b.ts", "pacing may import only rooms below it"],
  ["src/repository/fetch/a.ts", "src/repository/diff/b.ts", "fetch may import only rooms below it"],
  ["src/repository/push/a.ts", "src/repository/maintenance/b.ts", "push may import only rooms below it"],
  ["src/repository/fetch/a.ts", "src/repository/push/b.ts", "fetch may import only rooms below it"],
  ["src/repository/push/a.ts", "src/repository/calls.ts", "no room imports it"],
  ["src/repository/cellar/a.ts", "src/repository/push/b.ts", "the room cellar has no place in the order"],
  ["src/store/sql/a.ts", "src/store/graph/b.ts", "sql may import only rooms below it"],
  ["src/format/a.ts", "src/codec/b.ts", "format may import only rooms below it"],
  ["src/rest/a.ts", "src/web/b.ts", "rest may import only rooms below it"],
])("%s may not import %s", async (file, imported, message) => {
  expect((await lint(file, imported)).replaceAll(/\s+/g, " ")).toContain(message);
});
