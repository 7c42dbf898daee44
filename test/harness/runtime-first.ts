import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Runs the files of the project `workers` before the others, each project's longest first. By
 * default projects run by their names, and these few long files would be the last: most of the
 * workers would wait for one of them. */
export class RuntimeFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project }: TestSpecification): number => (project.name === "workers" ? 0 : 1);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
