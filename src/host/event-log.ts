import type { RepositoryEvent } from "../repository/repository-event.ts";

/** Prints what a repository did as one line of JSON: whoever reads the Worker's logs sees what each request cost. */
export function printEvent(event: RepositoryEvent): void {
  // oxlint-disable-next-line no-console -- the Worker's console is its log
  console.log(JSON.stringify(event));
}
