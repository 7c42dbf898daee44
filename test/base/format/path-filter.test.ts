import { expect, test } from "vitest";
import { MAX_FILTER_PATHS } from "../../../src/base/format/limits.ts";
import {
  CHANGES_ALL,
  gitFilterBytes,
  hashPath,
  makePathFilter,
  mayHavePath,
  murmur3,
  type PathFilter,
} from "../../../src/base/format/path-filter.ts";
import { Random } from "../../harness/random.ts";

const has = ({ bytes, paths }: PathFilter, path: string): boolean => mayHavePath(bytes, 0, paths, hashPath(path));

/** The files, and all directories that they are in. */
function withDirectories(files: Iterable<string>): Set<string> {
  const all = new Set<string>();
  for (const file of files) {
    const parts = file.split("/");
    for (let end = 1; end <= parts.length; end++) all.add(parts.slice(0, end).join("/"));
  }
  return all;
}

// From git's t0095-bloom.sh; the last has bytes above 0x7f, which only version 2 takes as unsigned.
test.each([
  ["", 0],
  ["Hello world!", 0x627b0c2c],
  ["The quick brown fox jumps over the lazy dog", 0x2e4ff723],
  ["\x99\xaa\xbb\xcc\xdd\xee\xff", 0xa183ccfd],
])("the hash of %j is git's", (text, hash) => {
  expect(murmur3(text, text.length, 0)).toBe(hash);
  expect(murmur3(`${text}/more`, text.length, 0)).toBe(hash);
});

test("a filter has its paths, and hardly any other", { tags: "sweep" }, () => {
  const random = new Random(1);
  const name = (): string => `${random.pick(["a", "dir", "\xe9t\xe9"])}${random.below(1_000)}`;
  const path = (): string => Array.from({ length: 1 + random.below(4) }, name).join("/");
  let passed = 0;
  for (let round = 0; round < 200; round++) {
    const files = Array.from({ length: 1 + random.below(20) }, path);
    const all = withDirectories(files);
    const filter = makePathFilter(all);
    for (const one of all) expect([one, has(filter, one)]).toEqual([one, true]);
    for (let k = 0; k < 1_000; k++) {
      const other = path();
      if (!all.has(other) && has(filter, other)) passed += 1;
    }
  }
  // Git's part alone lets one in a hundred pass, of those whose directories are in it.
  expect(passed).toBeLessThan(5);
});

test("a path whose directory was not changed is ruled out, also if its name was", () => {
  const filter = makePathFilter(withDirectories(["dir/file"]));
  expect(["dir", "dir/file", "file", "other/file", "dir/file/below"].map((path) => has(filter, path))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("nothing changed, or too much", () => {
  const none = makePathFilter(new Set());
  expect([...none.bytes]).toEqual([0]);
  expect(has(none, "any")).toBe(false);
  const paths = (count: number): Set<string> => new Set(Array.from({ length: count }, (_, i) => `file-${i}`));
  expect(makePathFilter(null)).toEqual(CHANGES_ALL);
  expect(makePathFilter(paths(MAX_FILTER_PATHS + 1))).toEqual(CHANGES_ALL);
  expect(has(CHANGES_ALL, "any/path")).toBe(true);
  const most = makePathFilter(paths(MAX_FILTER_PATHS));
  expect(gitFilterBytes(most.paths)).toBe(640);
  expect(has(most, "other")).toBe(false);
});
