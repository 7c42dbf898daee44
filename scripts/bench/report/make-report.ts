/** Makes the page and its pictures of files of samples. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSamples, type Sample } from "../figures/sample.ts";
import { drawChart } from "./charts/draw.ts";
import { formatGoals, GOALS, judgeGoal, nameReason } from "./goals.ts";
import { formatMachines, type Machine, type Machines } from "./machine.ts";
import { fillPage, listAnchors, listPlaces } from "./page.ts";
import { PARTS } from "./parts/parts.ts";

/** The page, in the folder of documents. */
export const PAGE = "performance.md";

/** The folder beside it, of samples and pictures. */
export const FOLDER = "performance";

/** In that folder: on what each file of samples was measured. */
const MACHINES = "machine.json";

/** What is made. */
export interface Report {
  /** Texts by their paths, relative to the folder of documents. */
  readonly files: ReadonlyMap<string, string>;
  /** Files of samples that are not there. */
  readonly unmeasured: readonly string[];
  /** What only a hand can mend in the page: places that it lacks, goals that are missed and not explained. */
  readonly faults: readonly string[];
}

/** Makes everything anew; nothing is written.
 * @param docs the folder of documents
 * @throws Error if the page or a file of samples cannot be read */
export async function makeReport(docs: string): Promise<Report> {
  const page = readFileSync(join(docs, PAGE), "utf8");
  const samples = readAll(join(docs, FOLDER));
  const files = new Map<string, string>();
  const tables = new Map<string, string>();
  const charts = new Map<string, string>();
  for (const { name, tables: formats, charts: pictures } of PARTS) {
    const own = samples.get(name);
    const missing = `Not measured yet: \`npm run bench:report -- --measure ${name}\` does.\n`;
    for (const [table, format] of Object.entries(formats)) {
      tables.set(table, (own === undefined ? "" : format(own)) || missing);
    }
    for (const chart of pictures) {
      const spec = own === undefined ? null : chart.draw(own);
      charts.set(chart.name, spec === null ? missing : `![${chart.alt}](${FOLDER}/${chart.name}.svg)\n`);
      if (spec !== null) files.set(`${FOLDER}/${chart.name}.svg`, await drawChart(spec));
    }
  }
  const verdicts = GOALS.map((goal) => judgeGoal(goal, samples.get(goal.part) ?? []));
  const anchors = listAnchors(page);
  tables.set("goals", formatGoals(verdicts, anchors));
  tables.set("machine", describeMachines(docs, [...samples.keys()]));
  const unexplained = verdicts
    .filter(({ goal, state }) => state === "missed" && !anchors.has(nameReason(goal)))
    .map(
      ({ goal }) => `${PAGE}: no paragraph <a id="${nameReason(goal)}"></a> says why a goal is missed: ${goal.what}`,
    );
  files.set(
    PAGE,
    fillPage(page, (kind, name) => findFilling({ table: tables, chart: charts }[kind], kind, name)),
  );
  const unmeasured = PARTS.filter(({ name }) => !samples.has(name)).map(({ name }) => `${FOLDER}/${name}.csv`);
  return { files, unmeasured, faults: [...listUnnamed(page, tables, charts), ...unexplained] };
}

function findFilling(known: ReadonlyMap<string, string>, kind: string, name: string): string {
  const filling = known.get(name);
  if (filling === undefined) throw new Error(`${PAGE}: there is no ${kind} ${name}`);
  return filling;
}

function listUnnamed(page: string, tables: ReadonlyMap<string, string>, charts: ReadonlyMap<string, string>): string[] {
  const places = listPlaces(page);
  return [
    ...[...tables.keys()].filter((name) => !places.table.has(name)).map((name) => `${PAGE}: has no table ${name}`),
    ...[...charts.keys()].filter((name) => !places.chart.has(name)).map((name) => `${PAGE}: has no chart ${name}`),
  ];
}

/** The samples of every part that was measured. */
function readAll(folder: string): Map<string, Sample[]> {
  const measured = PARTS.map(({ name }) => name).filter((name) => existsSync(join(folder, `${name}.csv`)));
  return new Map(measured.map((name) => [name, readSamples(join(folder, `${name}.csv`))]));
}

/** Reads on what each part was measured. */
function readMachines(docs: string): Machines {
  const path = join(docs, FOLDER, MACHINES);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Machines) : {};
}

/** Notes on what parts were measured. */
export function noteMachine(docs: string, name: string, machine: Machine): void {
  const machines = Object.entries({ ...readMachines(docs), [name]: machine }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(join(docs, FOLDER, MACHINES), `${JSON.stringify(Object.fromEntries(machines), null, 2)}\n`);
}

function describeMachines(docs: string, measured: readonly string[]): string {
  const machines = readMachines(docs);
  const known = measured.filter((name) => machines[name] !== undefined);
  if (known.length === 0) return "Not noted.\n";
  return formatMachines(Object.fromEntries(known.map((name) => [name, machines[name]!])));
}

/** Paths of files that are not what a report says, or that nothing makes any more. */
export function listDifferences(docs: string, { files }: Report): string[] {
  const differing = [...files].filter(([path, text]) => {
    const full = join(docs, path);
    return !existsSync(full) || readFileSync(full, "utf8") !== text;
  });
  return [...differing.map(([path]) => path), ...listLeftovers(docs, files)];
}

function listLeftovers(docs: string, files: ReadonlyMap<string, string>): string[] {
  const charts = new Set(PARTS.flatMap(({ charts: list }) => list.map(({ name }) => `${name}.svg`)));
  const folder = join(docs, FOLDER);
  return (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => charts.has(name))
    .map((name) => `${FOLDER}/${name}`)
    .filter((path) => !files.has(path));
}

/** Writes a report down, and removes pictures of what is no longer there. */
export function writeReport(docs: string, { files }: Report): void {
  mkdirSync(join(docs, FOLDER), { recursive: true });
  for (const [path, text] of files) writeFileSync(join(docs, path), text);
  for (const path of listLeftovers(docs, files)) rmSync(join(docs, path));
}
