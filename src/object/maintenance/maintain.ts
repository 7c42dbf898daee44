import type { OpenRepository } from "../objects/open-repository.ts";
import type { MaintenanceKind, MaintenanceStatus } from "../../contract/upkeep.ts";

/** After this many milliseconds no further run of a job begins. One run takes a few seconds at
 * most. */
const MAINTAIN_MS = 5_000;

/** Runs jobs now, and returns the state afterwards. Jobs not run in time stay scheduled, and are
 * listed as waiting. */
export async function maintain(
  repository: OpenRepository,
  kinds: readonly MaintenanceKind[],
): Promise<MaintenanceStatus> {
  const { state } = repository;
  const { jobs } = state;
  const startMs = Date.now();
  let nowMs = startMs;
  const endHurry = state.holds.begin("hurry");
  try {
    for (const kind of kinds) jobs.add(kind, "", nowMs);
    // A run that leaves work adds the next run a millisecond later.
    do await repository.runJobs(nowMs++);
    while ((jobs.nextDueMs() ?? Infinity) <= nowMs && Date.now() - startMs < MAINTAIN_MS);
  } finally {
    endHurry();
    // Should something have failed, what was added runs later.
    state.scheduleJobs();
  }
  return maintenance(repository);
}

/** Returns the state of maintenance. Reads no object's row. */
export async function maintenance({ tables }: OpenRepository): Promise<MaintenanceStatus> {
  const { objects, graph, refs, chunks, jobs } = tables;
  const rows = chunks.allInOrder();
  const hot = rows.filter(({ key }) => key === null);
  const sum = (some: typeof rows): number => some.reduce((bytes, { size }) => bytes + size, 0);
  return {
    objects: objects.present().size,
    commits: graph.length,
    refs: refs.all().names.length,
    chunks: {
      hot: hot.length,
      unmerged: hot.filter(({ packOffset }) => packOffset > 0).length,
      sealed: rows.length - hot.length,
      unwhole: rows.filter(({ whole }) => !whole).length,
    },
    bytes: sum(rows),
    hotBytes: sum(hot),
    r2Objects: chunks.keys().size,
    jobs: jobs.all(),
    lastRuns: jobs.lastRuns(),
  };
}
