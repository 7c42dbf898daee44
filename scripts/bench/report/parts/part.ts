/** What the page shows of one file of samples. */
import type { TopLevelSpec } from "vega-lite";
import type { Sample } from "../../figures/sample.ts";

/** A picture. */
export interface Chart {
  /** Of its file, without `.svg`; the page names it so. */
  readonly name: string;
  /** What it shows, to somebody who does not see it. */
  readonly alt: string;
  /** @returns null if the samples do not hold what it shows */
  draw(samples: readonly Sample[]): TopLevelSpec | null;
}

/** What a file of samples gives. */
export interface Part {
  /** Of the file, without `.csv`. */
  readonly name: string;
  /** Markdown by the names that the page uses; empty if the samples do not hold what it shows. */
  readonly tables: Readonly<Record<string, (samples: readonly Sample[]) => string>>;
  readonly charts: readonly Chart[];
}

/** What bars show, below their title. */
export const HOW_TO_READ = "medians; lines: spread; above: ratio to native in the same run";
