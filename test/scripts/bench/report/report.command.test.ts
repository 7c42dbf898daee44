import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test, vi } from "vitest";
import { fillPage } from "../../../../scripts/bench/report/page.ts";
import {
  FOLDER,
  listDifferences,
  makeReport,
  PAGE,
  type Report,
  writeReport,
} from "../../../../scripts/bench/report/make-report.ts";
import { PROJECT } from "../../../harness/build.ts";
import { makeDocs, NAMES } from "./made-up.ts";

// Twenty charts, several times, on a machine where other tests run.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const DOCS = join(PROJECT, "docs");

let docs: string;
let report: Report;

beforeAll(async () => {
  docs = makeDocs();
  report = await makeReport(docs);
  writeReport(docs, report);
});

/** Runs the command. */
async function run(...options: string[]): Promise<{ code: number; stderr: string }> {
  const script = join(PROJECT, "scripts/bench/report.ts");
  return promisify(execFile)(process.execPath, [script, ...options]).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
}

/** Names of elements that are not closed as XML wants it; text and attributes must not hold bare signs. */
function listUnclosed(xml: string): string[] {
  const open: string[] = [];
  const rest = xml.replaceAll(
    /<(\/?)([\w:-]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/g,
    (_, closes, name: string, __, empty) => {
      if (closes === "/") {
        if (open.pop() !== name) open.push(`</${name}>`);
      } else if (empty === "") open.push(name);
      return "";
    },
  );
  return [...open, ...(rest.match(/[<>]|&(?!(amp|lt|gt|quot|apos|#\d+);)/g) ?? [])];
}

test("docs/performance.md and its pictures are what the samples in docs/performance say", async () => {
  const made = await makeReport(DOCS);
  expect(listDifferences(DOCS, made)).toEqual([]);
  expect(made.faults).toEqual([]);
});

test("every chart and table of every part is made, and the page has a place for it", () => {
  expect(report.unmeasured).toEqual([]);
  const page = report.files.get(PAGE)!;
  expect(page).not.toContain("Not measured yet");
  for (const name of report.files.keys()) if (name !== PAGE) expect(page).toContain(`](${name})`);
  expect(report.faults.filter((fault) => !fault.includes("why a goal is missed"))).toEqual([]);
  expect(page).toContain("| CPU | Made-up |");
});

test("pictures are XML, on white, and name no file of the machine", () => {
  const pictures = [...report.files].filter(([path]) => path.endsWith(".svg"));
  expect(pictures.length).toBeGreaterThan(15);
  for (const [path, svg] of pictures) {
    expect(listUnclosed(svg), path).toEqual([]);
    expect(svg).toMatch(/^<svg [^>]*viewBox="[^>]*><rect [^>]*fill="#ffffff"\/>/);
    expect(svg).not.toContain("NaN");
    expect(svg).not.toMatch(/file:|\/node_modules\//);
  }
});

test("the same samples give the same bytes, in another process too", async () => {
  expect([...(await makeReport(docs)).files]).toEqual([...report.files]);
  const { stderr } = await run("--check", "--docs", docs);
  expect(stderr).not.toContain("not what the samples say");
});

test("--check names what a changed figure makes untrue, and changes nothing", async () => {
  const path = join(docs, FOLDER, "codec.csv");
  const csv = readFileSync(path, "utf8");
  writeFileSync(path, csv.replace(/,\d[\d.]*\n$/, ",1234\n"));
  const { code, stderr } = await run("--check", "--docs", docs);
  writeFileSync(path, csv);
  expect(code).toBe(1);
  expect(stderr).toContain(`${PAGE}: not what the samples say`);
  expect(stderr).toContain(`${FOLDER}/codec.svg: not what the samples say`);
  expect(stderr).not.toContain("core-wall.svg");
  expect(listDifferences(docs, report)).toEqual([]);
});

test("what is not measured is said, and its pictures go", async () => {
  const fewer = makeDocs(["codec"]);
  writeFileSync(join(fewer, FOLDER, "storm-wall.svg"), "<svg/>");
  writeReport(fewer, await makeReport(fewer));
  const made = await makeReport(fewer);
  expect(listDifferences(fewer, made)).toEqual([]);
  expect(made.unmeasured).toEqual(NAMES.filter((name) => name !== "codec").map((name) => `${FOLDER}/${name}.csv`));
  expect(made.files.get(PAGE)).toContain("Not measured yet: `npm run bench:report -- --measure storm` does.");
  expect([...made.files.keys()].toSorted()).toEqual([PAGE, `${FOLDER}/codec.svg`]);
  const { code, stderr } = await run("--check", "--docs", fewer);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${FOLDER}/storm.csv: not there`)]);
  rmSync(join(fewer, FOLDER), { recursive: true });
  expect(listDifferences(fewer, await makeReport(fewer))).toEqual([PAGE]);
});

test("places are filled in the midst of prose, which stays", () => {
  const page = "One\n\n<!-- table: a -->\nold\n<!-- end -->\n\nTwo\n<!-- chart: b -->\n<!-- end -->\n";
  const filled = fillPage(page, (kind, name) => `${kind} ${name}\n`);
  expect(filled).toBe(
    "One\n\n<!-- table: a -->\n\ntable a\n\n<!-- end -->\n\nTwo\n<!-- chart: b -->\n\nchart b\n\n<!-- end -->\n",
  );
  expect(fillPage(filled, (kind, name) => `${kind} ${name}\n`)).toBe(filled);
  expect(() => fillPage("<!-- table: a -->\n<!-- table: b -->\n<!-- end -->", () => "")).toThrow(
    "the table a has no end",
  );
});

test("names are known before anything is measured, and --check goes with nothing that changes", async () => {
  expect(await run("--measure", "nothing", "--docs", docs)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing: not one of quick, core") as string,
  });
  expect((await run("--measure", "--check", "--docs", docs)).code).toBe(1);
  expect((await run("codec", "--docs", docs)).stderr).toContain("names are for --measure");
  expect((await run("--help")).code).toBe(0);
});
