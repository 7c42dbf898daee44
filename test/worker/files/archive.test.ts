import { expect, test } from "vitest";
import { FILE_MODE, TREE_MODE } from "../../../src/base/format/tree.ts";
import { openArchive } from "../../../src/worker/files/archive.ts";
import { measureCpu } from "../../harness/measure-cpu.ts";
import type { PlannedFile } from "../../../src/worker/files/planned-files.ts";

const OID = "12".repeat(20);

function planned(path: string, mode: number): PlannedFile {
  // None of them is read.
  const blobs = null as unknown as PlannedFile["blobs"];
  return { path, mode, oid: OID, sizeBytes: 0, conversion: 0, subst: null, blob: -1, blobs, lfs: null };
}

async function pathsOf(files: readonly PlannedFile[]): Promise<string[]> {
  async function* each(): AsyncGenerator<PlannedFile> {
    yield* files;
  }
  const openLfs = (): never => expect.unreachable();
  const archive = await openArchive({ timeSeconds: 0, commit: OID, tree: OID, prefix: "", files: each(), openLfs });
  const paths: string[] = [];
  for await (const { path } of archive.entries) paths.push(path);
  return paths;
}

test("a directory comes with the first file in it, and one without any does not", async () => {
  const names = ["a/", "a/b/", "a/b/c/", "a/b/file", "a/d/", "e/", "e/f/", "e/f/file", "g/"];
  const files = names.map((name) => planned(name, name.endsWith("/") ? TREE_MODE : FILE_MODE));
  expect(await pathsOf(files)).toEqual(["a/", "a/b/", "a/b/file", "e/", "e/f/", "e/f/file"]);
});

test("directories in each other, with a file in the last alone, cost no more than their paths", async () => {
  const names = Array.from({ length: 4_000 }, (_, i) => "a/".repeat(i + 1));
  const files = [...names.map((name) => planned(name, TREE_MODE)), planned(`${names.at(-1)}file`, FILE_MODE)];
  const [paths, cpuMs] = await measureCpu(() => pathsOf(files));
  expect(paths).toHaveLength(4_001);
  expect(cpuMs).toBeLessThan(1_000);
});
