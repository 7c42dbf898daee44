/** Runs work that is divided into steps to its end. A generator yields where a slice of it may end,
 * so that other requests run in between. */
export function finishAtOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
