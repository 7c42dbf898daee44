import { statSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** A shorter file only names a scenario of other files, which takes long. */
const SHORT_BYTES = 1_500;

/** Runs the files of the project `workers` before the others, then those that are short, then each
 * project's longest first. By default projects run by their names, and files that no earlier run
 * has timed by their size. Long runs would be the last: most of the workers would wait for them. */
export class RuntimeFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification): number => {
      if (project.name === "workers") return 0;
      return statSync(moduleId).size < SHORT_BYTES ? 1 : 2;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
