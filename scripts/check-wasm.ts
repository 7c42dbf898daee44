/** Checks that the committed WebAssembly module was built from the committed sources. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommandLine } from "./command-line.ts";
import { PROJECT } from "./project.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/check-wasm.ts [OPTION]

Checks that the committed WebAssembly module was built from the committed sources. It compares
hashes with wasm/holdfast.wasm.lock and needs no toolchain.

  --rebuild  also builds the module again and compares every byte
  --record   records the hashes; npm run build:wasm does it after each build
  --help     this text
`;

const MODULE = "src/base/codec/holdfast.wasm";
const LOCK = "wasm/holdfast.wasm.lock";

/** The module's inputs: the Zig sources, the C sources' package, and the files that control the
 * build. */
function listInputs(): string[] {
  const sources = readdirSync(join(PROJECT, "wasm/src"), { recursive: true, encoding: "utf8" });
  return [
    "wasm/build.sh",
    "wasm/build.zig",
    "wasm/sources/Cargo.lock",
    "wasm/sources/Cargo.toml",
    ...sources.filter((path) => path.endsWith(".zig")).map((path) => `wasm/src/${path.replaceAll("\\", "/")}`),
  ].toSorted();
}

/** Lines as of sha256sum(1): for the module, then for its inputs. */
function describe(): string {
  const lines = [MODULE, ...listInputs()].map((path) => {
    const hash = createHash("sha256")
      .update(readFileSync(join(PROJECT, path)))
      .digest("hex");
    return `${hash}  ${path}\n`;
  });
  return lines.join("");
}

/** Paths whose lines differ, or that only one side has. */
function listDifferences(recorded: string, actual: string): string[] {
  const count = Map.groupBy([...recorded.split("\n"), ...actual.split("\n")], (line) => line);
  const lines = [...count].flatMap(([line, both]) => (both.length === 1 ? [line] : []));
  return [...new Set(lines.map((line) => line.slice(66)))].filter((path) => path !== "");
}

function rebuild(): void {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-wasm-"));
  try {
    const built = join(folder, "holdfast.wasm");
    execFileSync("bash", [join(PROJECT, "wasm/build.sh"), built], { stdio: "inherit" });
    if (!readFileSync(built).equals(readFileSync(join(PROJECT, MODULE))))
      fail(`the rebuilt module differs from ${MODULE}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function fail(reason: string): never {
  console.error(`${reason}\nRun npm run build:wasm, and commit the module and ${LOCK} with its sources.`);
  process.exit(1);
}

const OPTIONS = { rebuild: { type: "boolean" }, record: { type: "boolean" } } as const;

await runCommandLine(USAGE, OPTIONS, ({ rebuild: isToRebuild, record }) => {
  if (record === true) return writeFileSync(join(PROJECT, LOCK), describe());
  const differences = listDifferences(readFileSync(join(PROJECT, LOCK), "utf8"), describe());
  if (differences.length > 0) fail(`${LOCK} does not describe: ${differences.join(", ")}`);
  if (isToRebuild === true) rebuild();
  console.log(`${MODULE} matches its sources.`);
});
