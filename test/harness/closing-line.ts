import type { Reporter, TestModule } from "vitest/node";

/** Ends the run's output with a plain line, `N passed, N failed`, for programs. A file that cannot
 * be loaded counts as one failure. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed++;
        else if (state === "failed") failed++;
      }
    }
    process.once("exit", () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
  }
}
