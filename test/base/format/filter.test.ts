import { beforeAll, describe, expect, test } from "vitest";
import { type ObjectFilter, parseFilter } from "../../../src/base/format/filter.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";

let dir: string;
beforeAll(async () => {
  dir = await makeRepository("empty.git", "--bare");
});

/** Git's error for a filter-spec; null: accepted. */
async function askGit(spec: string): Promise<string | null> {
  const { code, stderr } = await tryGit(dir, ["rev-list", "--objects", "--all", `--filter=${spec}`]);
  return code === 0 ? null : stderr.trimEnd().replace(/^fatal: /, "");
}

const ACCEPTED: [string, ObjectFilter][] = [
  ["blob:none", { kind: "blob:none" }],
  ["blob:limit=0", { kind: "blob:limit", limitBytes: 0 }],
  ["blob:limit=10", { kind: "blob:limit", limitBytes: 10 }],
  ["blob:limit=10k", { kind: "blob:limit", limitBytes: 10_240 }],
  ["blob:limit=2M", { kind: "blob:limit", limitBytes: 2 * 1024 ** 2 }],
  ["blob:limit=3g", { kind: "blob:limit", limitBytes: 3 * 1024 ** 3 }],
  ["blob:limit= +0x1fG", { kind: "blob:limit", limitBytes: 31 * 1024 ** 3 }],
  ["blob:limit=010", { kind: "blob:limit", limitBytes: 8 }],
  ["blob:limit=18446744073709551615", { kind: "blob:limit", limitBytes: 2 ** 64 }],
  ["tree:0", { kind: "tree", depth: 0 }],
  ["tree:1k", { kind: "tree", depth: 1024 }],
  ["object:type=commit", { kind: "object:type", type: "commit" }],
  ["object:type=tree", { kind: "object:type", type: "tree" }],
  ["object:type=blob", { kind: "object:type", type: "blob" }],
  ["object:type=tag", { kind: "object:type", type: "tag" }],
  ["combine:blob:none", { kind: "combine", filters: [{ kind: "blob:none" }] }],
  ["combine:tree:3+blob:none", { kind: "combine", filters: [{ kind: "tree", depth: 3 }, { kind: "blob:none" }] }],
  ["combine:%62lob%3Anone", { kind: "combine", filters: [{ kind: "blob:none" }] }],
  [
    "combine:tree:3+combine:tree:2%2bcombine:blob:none%252bobject:type=blob",
    {
      kind: "combine",
      filters: [
        { kind: "tree", depth: 3 },
        {
          kind: "combine",
          filters: [
            { kind: "tree", depth: 2 },
            { kind: "combine", filters: [{ kind: "blob:none" }, { kind: "object:type", type: "blob" }] },
          ],
        },
      ],
    },
  ],
];

test.each(ACCEPTED)("'%s'", async (spec, filter) => {
  expect(parseFilter(spec)).toEqual(filter);
  expect(await askGit(spec)).toBe(null);
});

test("a sparse-checkout file is named as the client wrote it", () => {
  expect(parseFilter("sparse:oid=main:a b+%41")).toEqual({ kind: "sparse:oid", blob: "main:a b+%41" });
  expect(parseFilter("combine:sparse:oid=main:a%20%2b%E9%00%zz")).toEqual({
    kind: "combine",
    filters: [{ kind: "sparse:oid", blob: "main:a +\xe9%00%zz" }],
  });
});

test.each(Array.from("~`!@#$^&*()[]{}\\;'\",<>? \n"))("in a combined filter, %j must be escaped", async (byte) => {
  const spec = `combine:blob:none+sparse:oid=a${byte}b`;
  expect(parseFilter(spec)).toBe(`must escape char in sub-filter-spec: '${byte}'`);
  expect(await askGit(spec)).toBe(parseFilter(spec));
});

test("so must controls, and bytes that are not ASCII", () => {
  for (const byte of "\x01\x1f\x80\xe9\xff") {
    expect(parseFilter(`combine:sparse:oid=${byte}`)).toBe(`must escape char in sub-filter-spec: '${byte}'`);
  }
});

test.each([
  "x",
  "blob",
  "blob:",
  "blob:none ",
  "BLOB:NONE",
  "blob:limit=",
  "blob:limit=x",
  "blob:limit=-1",
  "blob:limit=1.5",
  "blob:limit=1kb",
  "blob:limit=08",
  "blob:limit=0x",
  "blob:limit=18446744073709551616",
  "blob:limit=17179869184g",
  "tree:",
  "tree:-1",
  "tree:x",
  "object:type=",
  "object:type=Blob",
  "object:type=constructor",
  "sparse:path=x",
  "sparse:x",
  "combine:",
  "combine:x",
  "combine:blob:none+x",
  "combine:blob:none+tree:",
  "combine:combine:",
  "combine:blob%253anone",
])("'%s' is refused in git's words", async (spec) => {
  expect(parseFilter(spec)).toEqual(expect.any(String));
  expect(parseFilter(spec)).toBe(await askGit(spec));
});

test("a stray plus means nothing, as for git from 2.54 on", () => {
  const filters = [{ kind: "blob:none" }, { kind: "tree", depth: 1 }];
  expect(parseFilter("combine:+blob:none++tree:1+")).toEqual({ kind: "combine", filters });
});

describe("caps", () => {
  test("64 filters are combined, on whatever levels, not one more", () => {
    const of = (count: number): string => `combine:${Array.from({ length: count }, () => "tree:1").join("+")}`;
    expect(parseFilter(of(64))).toMatchObject({ kind: "combine" });
    expect(parseFilter(of(65))).toBe("more than 64 filters combined");
    expect(parseFilter(of(2_000))).toBe("more than 64 filters combined");
    expect(parseFilter(`${"combine:".repeat(64)}tree:1`)).toMatchObject({ kind: "combine" });
    expect(parseFilter(`${"combine:".repeat(65)}tree:1`)).toBe("more than 64 filters combined");
    expect(parseFilter("combine:".repeat(2_000))).toBe("more than 64 filters combined");
  });

  test("a filter-spec has a length", () => {
    expect(parseFilter(`sparse:oid=${"x".repeat(16_373)}`)).toMatchObject({ kind: "sparse:oid" });
    expect(parseFilter(`sparse:oid=${"x".repeat(16_374)}`)).toBe("filter-spec is longer than 16384 bytes");
  });
});
