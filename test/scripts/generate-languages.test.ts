import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("languages.json is what the package linguist-languages says", { tags: "sweep" }, async () => {
  const script = join(import.meta.dirname, "../../scripts/generate-languages.ts");
  const { stderr } = await promisify(execFile)(process.execPath, [script, "--check"]);
  expect(stderr).not.toContain("languages.json");
});
