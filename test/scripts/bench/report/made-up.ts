/** Samples of every kind that the page shows. Nobody measured them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Measures,
  type Sample,
  toSamples,
  type Work,
  writeSamples,
} from "../../../../scripts/bench/figures/sample.ts";
import { FOLDER, noteMachine, PAGE } from "../../../../scripts/bench/report/make-report.ts";
import { PROJECT } from "../../../harness/build.ts";
import { Random } from "../../../harness/random.ts";
import { makeTempDir } from "../../../harness/temp-dir.ts";

const random = new Random(6);

/** Around a value: 0.9 to 1.3 times as much, and now and then ten times. */
function vary(value: number): number {
  return (value * (90 + random.below(40)) * (random.below(200) === 0 ? 10 : 1)) / 100;
}

const ROUNDS = 5;

/** @param count how many samples of each measure, in all rounds together */
function* repeat(work: Work, side: string, measures: Measures, count = ROUNDS): Generator<Sample> {
  for (let index = 0; index < count; index++) {
    const round = 1 + Math.floor((index * ROUNDS) / count);
    const varied = Object.entries(measures).map(([name, value]) => [name, vary(value)] as const);
    yield* toSamples(work, side, round, Object.fromEntries(varied));
  }
}

/** Both sides of a work; Holdfast takes so many times what native does. */
function* both(work: Work, measures: Measures, ratio: number, count?: number): Generator<Sample> {
  yield* repeat(work, "native", measures, count);
  const own = Object.entries(measures).map(([name, value]) => [name, value * ratio] as const);
  yield* repeat(work, "holdfast", Object.fromEntries(own), count);
}

const PARTS: Readonly<Record<string, () => Generator<Sample>>> = {
  *quick() {
    for (const files of [100, 1000, 5000]) {
      for (const work of ["push", "clone", "incremental push", "fetch"]) {
        yield* both({ work, files }, { "wall ms": files, "server CPU ms": files / 5 }, 1.1);
      }
      for (const work of ["stats", "all files"]) yield* both({ work, files }, { "wall ms": 6 }, 1.2);
    }
  },
  *core() {
    for (const repository of ["express", "esbuild"]) {
      const scale = repository === "express" ? 1 : 5;
      const cost = { "wall s": scale, "server CPU s": scale };
      yield* both({ work: "push", repository }, cost, 1.6);
      yield* both({ work: "fetch, raw client", repository }, { "first byte s": 0.1, ...cost }, 0.3);
      yield* repeat({ work: "fetch, raw client", repository }, "holdfast", { "body MB": scale * 10 });
      yield* both({ work: "clone --mirror", repository }, cost, 0.8);
      yield* both({ work: "index", repository }, cost, 0.5);
    }
    for (const files of [1000, 5000]) {
      for (const work of ["push", "clone"]) {
        yield* both({ work, repository: `${files} files of noise` }, { "wall s": files / 1000 }, 1.1);
      }
    }
  },
  *fetch() {
    for (const commits of [1000, 10_000, 100_000]) {
      yield* both({ work: "clone", commits }, { "first byte s": commits / 5e4, "wall s": commits / 2e4 }, 0.3);
    }
    for (const work of ["ls-refs of one", "clone --mirror"])
      yield* both({ work, branches: 5000 }, { "wall s": 1 }, 0.5);
    for (const work of ["the first 200 pushes", "the last 200 pushes"]) {
      yield* both({ work, repository: "express", pushes: 10_000 }, { ms: 12 }, 0.9, 200);
    }
  },
  *storm() {
    const common = { clients: 20, repository: "esbuild" };
    for (const storm of ["depth 1", "whole", "depths 1 to N"]) {
      for (const [cache, ratio] of Object.entries({ off: 0.6, cold: 0.16, warm: 0.06 })) {
        const cost = { "wall s": 5, "server CPU s": 9, "first byte s": 1 };
        yield* both({ client: "raw", storm, cache, ...common }, cost, ratio);
      }
    }
    for (const [storm, sizeMb] of Object.entries({ whole: 440, "whole, bundle-uri": 3 })) {
      const measures = { "wall s": 5, "server CPU s": 2, "fetch MB": sizeMb, "bundle MB": 443 - sizeMb };
      yield* repeat({ client: "git", storm, cache: "warm", ...common }, "holdfast", measures);
    }
  },
  *store() {
    for (const phase of ["modify", "add"]) {
      for (const writers of [1, 5, 20]) {
        const shape = { writers, repositories: writers, branches: 1, files: 2000 };
        yield* both({ phase, by: "git", step: "push", ...shape }, { ms: 30 + 3 * writers }, 0.8, 10);
        yield* both({ phase, by: "git", step: "total", ...shape }, { ms: 40 + 3 * writers }, 0.8, 300);
        yield* repeat({ phase, by: "api", step: "save", ...shape }, "holdfast", { ms: 10 + 2 * writers }, 300);
      }
    }
    for (const branches of [10, 50, 100]) {
      const work = {
        phase: "pull",
        by: "git",
        step: "all branches",
        writers: 1,
        repositories: 1,
        branches,
        files: 100,
      };
      yield* both(work, { ms: 10 * branches }, 0.4);
    }
    const contended = { phase: "contention, own files", writers: 5, repositories: 1, branches: 1, files: 100 };
    yield* both({ ...contended, by: "git", step: "total" }, { ms: 300, "merges per save": 0.5 }, 0.5, 50);
    yield* repeat({ ...contended, by: "api", step: "save" }, "holdfast", { ms: 100, "merges per save": 0.5 }, 50);
  },
  *codec() {
    for (const work of ["index", "inflate", "deflate", "SHA-1"]) {
      yield* both({ work, corpus: "express" }, { "MB/s": 200 }, 1.8);
      yield* repeat({ work, corpus: "express" }, "pako", { "MB/s": 60 });
    }
  },
  *rest() {
    for (const commits of [1, 100]) {
      for (const route of ["log", "stats"]) yield* both({ route, files: 100, commits }, { ms: 8, "first ms": 50 }, 0.7);
    }
  },
};

/** Names of all parts. */
export const NAMES = Object.keys(PARTS);

/** Makes a folder of documents with the project's page and made-up samples.
 * @param names of the parts that were "measured" */
export function makeDocs(names: readonly string[] = NAMES): string {
  const docs = makeTempDir("docs");
  mkdirSync(join(docs, FOLDER));
  writeFileSync(join(docs, PAGE), readFileSync(join(PROJECT, "docs", PAGE), "utf8"));
  for (const name of names) {
    writeSamples(join(docs, FOLDER, `${name}.csv`), [...PARTS[name]!()]);
    noteMachine(docs, name, { CPU: "Made-up", cores: "2" });
  }
  return docs;
}
