/** The pages whose tables are made of counted operations. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../test/harness/build.ts";
import { readSamples, type Sample } from "../figures/sample.ts";
import { makeCostTables } from "./cost-tables.ts";
import { Counts } from "./costs.ts";
import { fillTables } from "./markdown.ts";
import { makeScaleTables } from "./scale-tables.ts";

/** Where the counts lie that the pages are made of. */
export const COUNTS_FILE = join(PROJECT, "docs/performance/operations.csv");

/** docs/cost.md with its tables as the samples have it. */
export function fillCost(page: string, samples: readonly Sample[]): string {
  return fillTables(page, makeCostTables(new Counts(samples)));
}

/** docs/scaling.md with its tables as the samples have it. */
export function fillScaling(page: string, samples: readonly Sample[]): string {
  return fillTables(page, makeScaleTables(new Counts(samples)));
}

/** A page, as it is and as it should be. */
export interface Page {
  readonly path: string;
  readonly found: string;
  readonly filled: string;
}

/** Both pages, filled anew; nothing is written.
 * @throws Error that names what cannot be read */
export function fillPages(): Page[] {
  const samples = readSamples(COUNTS_FILE);
  return Object.entries({ "docs/cost.md": fillCost, "docs/scaling.md": fillScaling }).map(([path, fill]) => {
    const found = readFileSync(join(PROJECT, path), "utf8");
    return { path, found, filled: fill(found, samples) };
  });
}

/** Writes the pages that are not as they should be.
 * @returns their paths */
export function writePages(): string[] {
  const changed = fillPages().filter(({ found, filled }) => found !== filled);
  for (const { path, filled } of changed) writeFileSync(join(PROJECT, path), filled);
  return changed.map(({ path }) => path);
}
