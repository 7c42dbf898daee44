/** `npm run bench:core`: Holdfast's Git core beside native git, on the same machine in the same run. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import setUp from "../../test/harness/build.ts";
import { type Hosts, measureFetch, measureNoise, measurePush } from "./git-cases.ts";
import { startHoldfast, startReference } from "./hosts.ts";
import { measureIndex } from "./index-case.ts";
import { makeSubject, openSubject, type Subject } from "./subjects.ts";
import { type Figure, formatCsv, formatTable } from "./turns.ts";

const USAGE = `Usage: npm run bench:core -- [OPTIONS]

Measures Holdfast on workerd beside git http-backend behind Apache, in turns, and prints the medians.
Ratio is Holdfast's over native's: below 1, Holdfast is the faster one. CPU is the server's alone.

  --bundle FILE  a bundle or repository to push, fetch and index; may be repeated (default: a made-up history)
  --rounds N     recorded rounds of each case, after one to warm up (default 5)
  --only CASE    push, fetch, noise or index; may be repeated (default: all)
  --csv FILE     writes the figures there too, with the values of every round
  --help         this text
`;

const CASES = ["push", "fetch", "noise", "index"] as const;
type Case = (typeof CASES)[number];

const NOISE_FILES = [1000, 5000];

interface Options {
  readonly bundles: readonly string[];
  readonly rounds: number;
  readonly cases: readonly Case[];
  readonly csv: string | undefined;
}

/** @throws Error if an option is unknown or makes no sense */
function readOptions(): Options | "help" {
  const { values } = parseArgs({
    options: {
      bundle: { type: "string", multiple: true, default: [] },
      rounds: { type: "string", default: "5" },
      only: { type: "string", multiple: true, default: [...CASES] },
      csv: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const rounds = Number(values.rounds);
  if (!Number.isSafeInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: not a positive number`);
  const unknown = values.only.find((name) => !CASES.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: not one of ${CASES.join(", ")}`);
  const cases = CASES.filter((name) => values.only.includes(name));
  return { bundles: values.bundle, rounds, cases, csv: values.csv };
}

/** Every measurement to be made, each with what to call it should it fail. */
function* planMeasurements(
  { cases, rounds }: Options,
  subjects: readonly Subject[],
  hosts: Hosts,
): Generator<readonly [name: string, measure: () => Promise<Figure[]>]> {
  for (const name of cases) {
    if (name === "noise") {
      for (const files of NOISE_FILES) yield [`noise, ${files} files`, () => measureNoise(files, rounds, hosts)];
      continue;
    }
    for (const subject of subjects) {
      yield [
        `${name} ${subject.name}`,
        () => {
          if (name === "push") return measurePush(subject, rounds, hosts);
          if (name === "fetch") return measureFetch(subject, rounds, hosts);
          return measureIndex(subject, rounds);
        },
      ];
    }
  }
}

/** @returns whether every case could be measured */
async function run(options: Options): Promise<boolean> {
  const { bundles, csv } = options;
  const subjects = bundles.length === 0 ? [await makeSubject()] : await Promise.all(bundles.map(openSubject));
  const hosts = { native: await startReference(), holdfast: await startHoldfast() };
  const figures: Figure[] = [];
  let failures = 0;
  try {
    for (const [name, measure] of planMeasurements(options, subjects, hosts)) {
      try {
        figures.push(...(await measure()));
      } catch (error) {
        failures++;
        console.error(`${name} failed:`, error);
      }
    }
  } finally {
    await Promise.all([hosts.native.close(), hosts.holdfast.close()]);
  }
  process.stdout.write(formatTable(figures));
  if (csv !== undefined) writeFileSync(csv, formatCsv(figures));
  return failures === 0;
}

// Exiting, unlike ending by the signal, ends Apache and removes the temporary folder.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

try {
  const options = readOptions();
  if (options === "help") {
    process.stdout.write(USAGE);
  } else {
    process.stderr.write("building\n");
    const cleanUp = await setUp();
    if (!(await run(options))) process.exitCode = 1;
    await cleanUp();
  }
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
