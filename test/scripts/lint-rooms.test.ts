import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { makeTempDir } from "../harness/temp-dir.ts";

const run = promisify(execFile);
const project = resolve(import.meta.dirname, "../..");

interface Settings {
  jsPlugins: string[];
  overrides: { files: string[]; rules: Record<string, unknown> }[];
}

/** Files, each with a file that it imports, and what the linter says of it; null: nothing. */
const CASES: readonly (readonly [file: string, imported: string, says: string | null])[] = [
  ["src/object/push/a.ts", "src/base/pacing/b.ts", null],
  ["src/object/push/b.ts", "src/contract/b.ts", null],
  ["src/object/push/c.ts", "src/object/push/b.ts", null],
  ["src/object/calls.ts", "src/object/commit/b.ts", null],
  ["src/object/store/graph/a.ts", "src/object/store/sql/b.ts", null],
  ["src/worker/host/a.ts", "src/worker/rest/b.ts", null],
  ["src/main.ts", "src/worker/worker.ts", null],
  ["src/worker/rest/c.ts", "src/object/push/b.ts", "worker may import only rooms below it"],
  ["src/object/push/f.ts", "src/worker/rest/b.ts", "object may import only rooms below it"],
  ["src/contract/a.ts", "src/object/push/b.ts", "contract may import only rooms below it"],
  ["src/base/http/a.ts", "src/contract/b.ts", "base may import only rooms below it"],
  ["src/base/pacing/a.ts", "src/base/bytes/b.ts", "pacing may import only rooms below it"],
  ["src/object/fetch/a.ts", "src/object/diff/b.ts", "fetch may import only rooms below it"],
  ["src/object/push/d.ts", "src/object/maintenance/b.ts", "push may import only rooms below it"],
  ["src/object/fetch/c.ts", "src/object/push/b.ts", "fetch may import only rooms below it"],
  ["src/object/push/e.ts", "src/object/calls.ts", "no room imports it"],
  ["src/object/cellar/a.ts", "src/object/push/b.ts", "the room cellar has no place in the order"],
  ["src/object/store/sql/a.ts", "src/object/store/graph/b.ts", "sql may import only rooms below it"],
  ["src/base/format/a.ts", "src/base/codec/b.ts", "format may import only rooms below it"],
  ["src/worker/rest/a.ts", "src/worker/web/b.ts", "rest may import only rooms below it"],
];

interface Output {
  readonly number_of_files: number;
  readonly diagnostics: readonly { readonly filename: string; readonly message: string }[];
}

let output: Output;

/** The linter, with the project's order of rooms, looks at all of them at once. */
beforeAll(async () => {
  const dir = makeTempDir("rooms");
  const settings = JSON.parse(readFileSync(join(project, ".oxlintrc.json"), "utf8")) as Settings;
  const { rules } = settings.overrides.find(({ files }) => files.includes("src/**"))!;
  const config = {
    jsPlugins: [join(project, "scripts/lint/rooms.ts")],
    rules: { "rooms/order": rules["rooms/order"] },
  };
  writeFileSync(join(dir, ".oxlintrc.json"), JSON.stringify(config));
  const contents = new Map(CASES.map(([, imported]) => [imported, "export const value = 1;\n"]));
  for (const [file, imported] of CASES) {
    const up = "../".repeat(file.split("/").length - 1);
    contents.set(file, `export { value } from "${up}${imported}";\n`);
  }
  for (const [path, content] of contents) {
    mkdirSync(join(dir, dirname(path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  // It ends with 1 where it finds something.
  const { stdout } = await run(join(project, "node_modules/.bin/oxlint"), ["-f", "json", "src"], { cwd: dir }).catch(
    (error: { stdout: string }) => error,
  );
  output = JSON.parse(stdout) as Output;
  expect(output.number_of_files).toBe(contents.size);
});

test.each(CASES)("%s imports %s: %s", (file, _, says) => {
  const messages = output.diagnostics.filter(({ filename }) => filename === file).map(({ message }) => message);
  expect(messages).toEqual(says === null ? [] : [expect.stringContaining(says)]);
});
