import { expect, test } from "vitest";
import { decodePathParts, encodePath } from "../../../src/base/format/path-parts.ts";
import { Random } from "../../harness/random.ts";

/** Through a URL and back, as a browser sends it. */
function roundTrip(path: string): string {
  const url = new URL(`https://git.example.com/o/r/tree/${encodePath(`main/${path}`)}`);
  const [, ...parts] = decodePathParts(url.pathname.slice("/o/r/tree/".length)).join("/").split("/");
  return parts.join("/");
}

test.each([
  "a",
  "a b/c",
  "a/../b",
  "..",
  ".",
  "../..",
  "a/.",
  "%2e%2e/x",
  "a?b#c",
  "<script>",
  "'\"",
  "\n\r\t",
  "a\\b",
])("%j comes back from a URL", (path) => expect(roundTrip(path)).toBe(path));

test("any bytes come back from a URL", () => {
  const random = new Random(7);
  for (let i = 0; i < 2_000; i++) {
    const bytes = Array.from({ length: random.below(12) }, () => 1 + random.below(255));
    const path = String.fromCharCode(...bytes);
    expect(roundTrip(path)).toBe(path);
  }
});

test("an encoded slash splits nothing, and what is no encoding stays", () => {
  expect(decodePathParts("a%2Fb/c%ff/%zz/%")).toEqual(["a/b", "c\xff", "%zz", "%"]);
});
