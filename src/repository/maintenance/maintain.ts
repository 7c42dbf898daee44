import type { OpenRepository } from "../open-repository.ts";
import type { MaintenanceKind } from "./housekeeping.ts";
import { maintenance, type MaintenanceStatus } from "./status.ts";

/** Runs jobs now, until nothing of them is left to do, and says how things are after. */
export async function maintain(
  repository: OpenRepository,
  kinds: readonly MaintenanceKind[],
): Promise<MaintenanceStatus> {
  const { state } = repository;
  const { jobs } = state;
  let nowMs = Date.now();
  for (const kind of kinds) jobs.add(kind, "", nowMs);
  state.hurrying += 1;
  try {
    // A run that leaves something to another adds it for a millisecond later.
    do await repository.runJobs(nowMs++);
    while ((jobs.nextDueMs() ?? Infinity) <= nowMs);
  } finally {
    state.hurrying -= 1;
  }
  return maintenance(repository);
}
