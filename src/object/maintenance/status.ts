import type { OpenRepository } from "../objects/open-repository.ts";
import type { MaintenanceStatus } from "../../contract/upkeep.ts";

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
