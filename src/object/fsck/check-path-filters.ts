import { toHex } from "../../base/format/oid.ts";
import type { PathFilter } from "../../base/format/path-filter.ts";
import type { StoredFilter } from "../store/graph/path-filter-table.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import { makePathFilters } from "../diff/changed-paths.ts";
import type { HeldObjects } from "../objects/held-objects.ts";
import type { FsckRun, FsckStage } from "./fsck-run.ts";

/** Filters that are made again at a time. */
const SLICE_FILTERS = 500;

/** Filters that are left out together where a tree cannot be read, at most. */
const LEAST_FILTERS = 8;

/** Bytes that are hashed in the time between two rests. */
const BYTES_PER_REST = 256 * 1024;

/** Checks, by number, that filters are those of their commits: makes them again. With `repair`,
 * wrong ones are removed, and a job makes them. */
export const checkPathFilters: FsckStage = async (run, after) => {
  let last = Number(after);
  const trees = run.repository.reader.hold();
  for (;;) {
    const from = last;
    const stored = await run.attempt("path_filters", () => run.tables.pathFilters.next(from, SLICE_FILTERS), null);
    if (stored === null) clear(run);
    if (stored === null || stored.length === 0) return null;
    await checkFilters(run, trees, stored);
    last = stored.at(-1)!.number;
    if (run.isSpent) return String(last);
  }
};

async function checkFilters(run: FsckRun, trees: HeldObjects, stored: readonly StoredFilter[]): Promise<void> {
  const { graph, objects, pathFilters } = run.tables;
  const strange = stored.filter(({ number }) => graph.position(number) < 0);
  const nodes = stored.filter(({ number }) => graph.position(number) >= 0);
  const made = await remake(run, trees, NumberSet.fromSorted(nodes.map(({ number }) => number)));
  const filters = new Map(made.map(({ number, filter }) => [number, filter]));
  const isWrong = ({ number, filter }: StoredFilter): boolean => !isSame(filter, filters.get(number) ?? filter);
  const wrong = nodes.filter(isWrong);
  for (const { number } of strange) {
    run.report({ kind: "path-filter", detail: `object ${number}: the filter belongs to no commit` });
  }
  for (const { number } of wrong) {
    const { oid } = objects.locate(NumberSet.of(number));
    run.report({ kind: "path-filter", oid: toHex(oid), detail: "the filter of its paths is another one" });
  }
  if (!run.repair || wrong.length + strange.length === 0) return;
  const numbers = NumberSet.fromUnsorted([...wrong, ...strange].map(({ number }) => number));
  run.repository.state.platform.transactor.transactionSync(() => {
    pathFilters.remove(numbers);
    run.tables.jobs.add("filter", "", Date.now());
  });
  // What is in memory of them is wrong, too.
  run.repository.state.reload();
  run.checked.repaired += numbers.size;
}

/** Makes filters. Where trees cannot be read, as an earlier stage has told, the filters of a few
 * commits around are left out. */
async function remake(run: FsckRun, trees: HeldObjects, nodes: NumberSet): Promise<readonly StoredFilter[]> {
  try {
    return await makePathFilters({ tables: run.tables, trees }, nodes, () => run.step(BYTES_PER_REST));
  } catch (error) {
    await run.damageOf(error);
    if (nodes.size <= LEAST_FILTERS) {
      run.checked.skippedNodes += nodes.size;
      return [];
    }
    const numbers = nodes.toArray();
    const middle = numbers[numbers.length >>> 1]!;
    const first = await remake(run, trees, nodes.within(0, middle));
    return [...first, ...(await remake(run, trees, nodes.within(middle, Infinity)))];
  }
}

/** Has all filters made again, as a page of them cannot be read. */
function clear(run: FsckRun): void {
  if (!run.repair) return;
  run.repository.state.platform.transactor.transactionSync(() => {
    run.tables.pathFilters.clear();
    run.tables.jobs.add("filter", "", Date.now());
  });
  run.repository.state.reload();
  run.checked.repaired += 1;
}

function isSame(a: PathFilter, b: PathFilter): boolean {
  return a.paths === b.paths && a.bytes.length === b.bytes.length && a.bytes.every((byte, i) => byte === b.bytes[i]);
}
