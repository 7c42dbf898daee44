import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { makeOddRepository } from "../../harness/odd-tree.ts";
import { type Server, startServer } from "../../harness/server.ts";

interface Match {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly before: string[];
  readonly after: string[];
}

interface Result {
  readonly commit: string;
  readonly matches: Match[];
  readonly truncated: boolean;
  readonly nextCursor: string | null;
}

let server: Server;
let odd: string;
let history: string;

beforeAll(async () => {
  server = await startServer();
  history = await makeHistory({ commits: 20, files: 60 });
  odd = await makeOddRepository([
    {
      branch: "main",
      files: {
        "a.ts": "one two\r\nThree\n\nfoo_bar foo\nlast without an end: foo",
        "b.txt": "foofoo foo\nFOO\n.*[\n",
        "binary.ts": "foo\0",
        "src/deep/c.ts": "Größe foo\n",
        "src/d.js": "foo\n",
        link: { mode: "120000", content: "foo" },
        "sub.ts": { gitlink: "1234567890123456789012345678901234567890" },
        evil: `${"a".repeat(100_000)}!\n`.repeat(5),
        empty: "",
      },
    },
  ]);
  await git(history, "push", "-q", `${server.url}/me/history.git`, "main");
  await git(odd, "push", "-q", `${server.url}/me/odd.git`, "main");
});

afterAll(() => server.close());

async function search(name: string, query: Record<string, string | string[]>) {
  const entries = Object.entries(query).flatMap(([key, value]) => [value].flat().map((one) => [key, one]));
  return askApi<Result>(server, `/repos/me/${name}/grep?${new URLSearchParams(entries).toString()}`);
}

/** `git grep`, a line for each match. */
async function expected(dir: string, ...args: string[]): Promise<string[]> {
  const options = ["grep", "-I", "-n", "--column", "--full-name", ...args];
  const { stdout } = await tryGit(dir, options);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.slice("main:".length));
}

const shown = ({ body }: { body: Result }): string[] =>
  body.matches.map(({ path, line, column, text }) => `${path}:${line}:${column}:${text}`);

test.each([
  [{ pattern: "foo" }, ["-E", "foo", "main"]],
  [{ pattern: "foo", word: "true" }, ["-E", "-w", "foo", "main"]],
  [{ pattern: "FOO", ignoreCase: "true" }, ["-E", "-i", "FOO", "main"]],
  [{ pattern: ".*[", fixed: "true" }, ["-F", ".*[", "main"]],
  [{ pattern: "^.?$", path: "a.ts" }, ["-E", "^.?$", "main", "--", "a.ts"]],
  [{ pattern: "(foo|Three)$" }, ["-E", "(foo|Three)$", "main"]],
  [{ pattern: "[[:upper:]]h", path: "*.ts" }, ["-E", "[[:upper:]]h", "main", "--", ":(glob)*.ts"]],
  [{ pattern: "foo", path: "**/*.ts" }, ["-E", "foo", "main", "--", ":(glob)**/*.ts"]],
  [{ pattern: "foo", path: "src" }, ["-E", "foo", "main", "--", ":(glob)src"]],
  [{ pattern: "foo", path: "src/*/c.ts" }, ["-E", "foo", "main", "--", ":(glob)src/*/c.ts"]],
  [{ pattern: "foo", path: ["b.txt", "src/*.js"] }, ["-E", "foo", "main", "--", ":(glob)b.txt", ":(glob)src/*.js"]],
  [{ pattern: "nothing like this" }, ["-E", "nothing like this", "main"]],
])("a search finds what git grep finds: %j", async (query, args) => {
  const result = await search("odd", query);
  expect(result.status).toBe(200);
  // Git counts columns in bytes.
  const lines = (await expected(odd, ...args)).map((line) => line.replace("c.ts:1:9:", "c.ts:1:7:"));
  expect(shown(result)).toEqual(lines);
  expect(result.body.truncated).toBe(false);
});

test("words of a history, on pages of any size", async () => {
  for (const pattern of ["a[a-z]+e", "[0-9]{2}", "^[^ ]+$"]) {
    const lines = await expected(history, "-E", pattern, "main");
    for (const limit of ["1000", "17"]) {
      const found: string[] = [];
      for (let cursor: string | null = ""; cursor !== null && found.length < 200;) {
        const page: { body: Result } = await search("history", { pattern, limit, ...(cursor && { cursor }) });
        expect(page.body.matches.length).toBeLessThanOrEqual(Number(limit));
        found.push(...shown(page));
        cursor = page.body.nextCursor;
      }
      expect(found).toEqual(lines.slice(0, found.length));
      if (limit === "1000") expect(found.length).toBe(Math.min(lines.length, 1_000));
    }
  }
});

test("lines around a match come with it", async () => {
  const { body } = await search("odd", { pattern: "^foo_", context: "2" });
  expect(body.matches).toMatchObject([
    { line: 4, before: ["Three", ""], after: ["last without an end: foo"], text: "foo_bar foo" },
  ]);
});

test("a pattern that makes other engines stand still is answered", async () => {
  const before = server.readUsage().cpuSeconds;
  const { status, body } = await search("odd", { pattern: "(a+)+$" });
  expect([status, body.truncated]).toEqual([200, false]);
  expect(body.matches.every(({ path }) => path !== "evil")).toBe(true);
  expect(server.readUsage().cpuSeconds - before).toBeLessThan(5);
});

test("what is no pattern is said", async () => {
  const invalid = { status: 422, body: { error: { field: "pattern" } } };
  expect(await search("odd", { pattern: "(" })).toMatchObject(invalid);
  expect(await search("odd", { pattern: "(a)\\1" })).toMatchObject(invalid);
  expect(await search("odd", { pattern: "a\nb" })).toMatchObject(invalid);
  expect(await search("odd", { pattern: "((a{1,100}){1,100}){1,100}" })).toMatchObject({ status: 422 });
  expect(await search("odd", { pattern: "x", limit: "0" })).toMatchObject({ status: 422 });
  expect(await search("odd", { pattern: "x", ref: "nothing" })).toMatchObject({ status: 404 });
});
