/** The project's own documents, as its pages show them. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { renderMarkdown } from "../src/worker/web/parts/markdown.ts";
import { PROJECT } from "./harness/build.ts";

const place = { owner: "me", name: "holdfast", visibility: "public", right: "read" } as const;

/** Before the path of a file, of an image, of a directory. */
const SHOWN = /^\/me\/holdfast\/(?:blob|raw|tree)\/main\//;

/** Paths of all Markdown files. */
const documents = listFiles("*.md");

/** The project's files that match one of git's patterns. */
function listFiles(...patterns: string[]): string[] {
  return execFileSync("git", ["ls-files", "-z", ...patterns], { cwd: PROJECT, encoding: "utf8" })
    .split("\0")
    .filter((path) => path !== "" && existsSync(join(PROJECT, path)));
}

/** The HTML of each document, by its path. */
const rendered = new Map(documents.map((path) => [path, render(path)]));

function render(path: string): string {
  const directory = dirname(path) === "." ? "" : dirname(path);
  const text = readFileSync(join(PROJECT, path), "utf8");
  return String(renderMarkdown(path, text, { place, rev: "main", directory }));
}

/** Why a link of a document leads nowhere; null: it leads somewhere, or to another site. */
function problemOf(document: string, link: string): string | null {
  const [address, anchor] = link.split("#") as [string, string?];
  if (address !== "" && !SHOWN.test(address)) return /^https?:/.test(address) ? null : "no address of the project";
  const path = address === "" ? document : decodeURIComponent(address.replace(SHOWN, ""));
  if (!existsSync(join(PROJECT, path))) return "no such file";
  if (anchor === undefined) return null;
  const id = `user-content-${anchor.replace("user-content-", "")}`;
  return rendered.get(path)?.includes(` id="${id}"`) === true ? null : "no such heading";
}

test("every link of a document leads to a file, and to a heading of it if it names one", () => {
  const problems: string[] = [];
  let links = 0;
  for (const [document, html] of rendered) {
    for (const [, link] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      links++;
      const problem = problemOf(document, link!);
      if (problem !== null) problems.push(`${document}: ${link}: ${problem}`);
    }
  }
  expect(rendered.size).toBeGreaterThan(50);
  expect(links).toBeGreaterThan(100);
  expect(problems).toEqual([]);
});

test("every file that a document names by its path is there", () => {
  const missing: string[] = [];
  let named = 0;
  for (const document of documents) {
    // It names tests without their endings, and has a test of its own.
    if (document === "docs/hostile-input.md") continue;
    const text = readFileSync(join(PROJECT, document), "utf8");
    for (const [, path] of text.matchAll(/`((?:src|test|scripts|docs|wasm)\/[^`\s*{…]+)`/g)) {
      named++;
      // A document in a folder may name files from there.
      const isThere = [PROJECT, join(PROJECT, dirname(document))].some((from) => existsSync(join(from, path!)));
      if (!isThere) missing.push(`${document}: ${path}`);
    }
  }
  expect(named).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});
