import type { OpenRepository } from "../objects/open-repository.ts";
import type { MaintenanceKind } from "./housekeeping.ts";
import { maintenance, type MaintenanceStatus } from "./status.ts";

/** Milliseconds after which no further run of a job begins: one takes some seconds at the most. */
const MAINTAIN_MS = 5_000;

/** Runs jobs now, and says how things are after. What is left when the time is over is done as any job, and told among those that wait. */
export async function maintain(
  repository: OpenRepository,
  kinds: readonly MaintenanceKind[],
): Promise<MaintenanceStatus> {
  const { state } = repository;
  const { jobs } = state;
  const startMs = Date.now();
  let nowMs = startMs;
  for (const kind of kinds) jobs.add(kind, "", nowMs);
  state.hurrying += 1;
  try {
    // A run that leaves something to another adds it for a millisecond later.
    do await repository.runJobs(nowMs++);
    while ((jobs.nextDueMs() ?? Infinity) <= nowMs && Date.now() - startMs < MAINTAIN_MS);
  } finally {
    state.hurrying -= 1;
  }
  return maintenance(repository);
}
