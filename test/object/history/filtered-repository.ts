/** Repositories whose filters of changed paths are made in the test. */
import { gitFilterBytes } from "../../../src/base/format/path-filter.ts";
import { toHex } from "../../../src/base/format/oid.ts";
import { writeFilters } from "../../../src/object/history/write-filters.ts";
import { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { openPathFilters } from "../../../src/object/store/graph/path-filter-table.ts";
import { NumberSet } from "../../../src/base/numbers/number-set.ts";
import { git } from "../../harness/git.ts";
import { ANYONE } from "../../harness/requester.ts";
import { PushedRepository, type PushedOptions } from "../pushing.ts";

/** Pushes all branches of a git repository; no job runs. */
export async function pushAll(dir: string, options: PushedOptions = {}): Promise<PushedRepository> {
  const repository = new PushedRepository(options);
  const names = (await git(dir, "for-each-ref", "--format=%(refname)")).split("\n");
  await repository.pushFrom(dir, Object.fromEntries(names.map((name) => [name, name])));
  return repository;
}

/** The repository as another life of its object sees it: nothing is in memory. */
export function reopen({ sql, chunks }: PushedRepository): PushedRepository {
  return new PushedRepository({ sql, chunks });
}

/** The repository as requests see it. */
export function openFor({ repository }: PushedRepository): OpenRepository {
  return new OpenRepository(repository.state, ANYONE, async () => undefined);
}

/** Makes filters, of `most` more commits at most. */
export function filterSome(repository: PushedRepository, most = Infinity): ReturnType<typeof writeFilters> {
  const worker = { isInterrupted: false, rest: async () => undefined };
  const { tables, reader } = openFor(repository);
  return writeFilters({ tables, reader }, most, worker);
}

/** The filters of all commits, as git has them: by commit, both in hex. */
export function storedFilters({ sql, tables }: PushedRepository): Map<string, string> {
  const filters = new Map<string, string>();
  for (const { number, filter } of openPathFilters(sql).all()) {
    const { oid, type } = tables.objects.locate(NumberSet.of(number));
    const ofGit = filter.bytes.subarray(0, gitFilterBytes(filter.paths));
    if (type[0] === 1) filters.set(toHex(oid), Buffer.from(ofGit).toString("hex"));
  }
  return filters;
}
