import type { FsckSetting } from "../../base/codec/fsck-messages.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { concatOids, type Oid } from "../../base/format/oid.ts";
import type { PositionSet } from "../store/graph/commit-graph.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import { keysByOwner } from "../state/chunk-owners.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { nextPinVersion, pinNeeded, UNPIN_AFTER_MS, unpinLater } from "./pins.ts";
import { removeUnused } from "./mask.ts";
import { type EnteredHistory, enterHistory, enterReachedLfs } from "./take-history.ts";
import type { SharedHistory } from "../state/family.ts";
import type { ForeignBranch } from "../../contract/merges.ts";

/** Settings, each stricter than those before. */
const STRICTNESS: readonly FsckSetting[] = ["lenient", "default", "strict"];

/** The most ids that the other repository is told: 10 MB. It shares again what it is not told. */
const MAX_HAVES = 500_000;

/** Runs `f` with the commits of a branch of another repository at hand. Their objects are shared,
 * not copied. What no ref of this repository reaches afterwards is removed again, whatever `f` did.
 * @param who takes them, byte string; null: unknown
 * @param f gets the id of the branch's tip
 * @throws GitError "not-found" when there is no such branch, "forbidden" when the other repository
 * checks less strictly, "too-large", and the errors of `f` */
export async function withBranch<T>(
  repository: RepositoryState,
  from: ForeignBranch,
  who: string | null,
  f: (tip: Oid) => Promise<T>,
): Promise<T> {
  const endPin = repository.holds.begin("pin");
  let taken = NumberSet.EMPTY;
  const lfs: EnteredHistory["lfs"][] = [];
  try {
    for (;;) {
      const history = await ask(repository, from);
      const entered = enter(repository, history, who);
      taken = taken.union(entered.added);
      lfs.push(entered.lfs);
      if (!history.isPart) return await f(history.tip);
    }
  } finally {
    endPin();
    withdraw(repository, taken);
    keepLfs(repository, lfs.flat());
    repository.scheduleJobs();
  }
}

async function ask(repository: RepositoryState, { repository: source, branch }: ForeignBranch): Promise<SharedHistory> {
  const { platform, tables } = repository;
  if (tables === null) throw new GitError("not-found", { subject: "repository" });
  // Whatever comes of it, the pins are looked at again.
  unpinLater(repository, source, UNPIN_AFTER_MS);
  const request = { holder: platform.id, version: nextPinVersion(), branch, haves: namesOf(tables) };
  const history = await platform.family.open(source).shareHistory(request);
  if (history === null) throw new GitError("not-found", { what: "branch", reason: decodeText(branch) });
  if (STRICTNESS.indexOf(history.fsck) < STRICTNESS.indexOf(repository.fsck)) {
    const reason = `it checks what is pushed as '${history.fsck}', and this repository as '${repository.fsck}': push the branch instead`;
    throw new GitError("forbidden", { what: "a branch of the other repository", reason });
  }
  const keys = [...history.chunks, ...history.lfs].flatMap(({ key }) => (key === null ? [] : [key]));
  for (const [owner, needed] of keysByOwner(keys)) {
    if (owner === source || owner === platform.id) continue;
    unpinLater(repository, owner, UNPIN_AFTER_MS);
    await pinNeeded(repository, owner, needed);
  }
  return history;
}

/** The ids of the newest commits that are there, with all that they reach. */
function namesOf({ graph, objects }: Tables): Uint8Array {
  const some: PositionSet = new Bitset<GraphPosition>(graph.length);
  some.addRange(Math.max(0, graph.length - MAX_HAVES), graph.length);
  return objects.locate(graph.numbers(some)).oid;
}

function enter(repository: RepositoryState, history: SharedHistory, who: string | null): EnteredHistory {
  if (history.nodes.length === 0) return { added: NumberSet.EMPTY, lfs: [] };
  const { pruneGraceMs } = repository.platform.limits;
  return repository.transact(null, (tables) => {
    const nowMs = Date.now();
    // Should the process die before a ref reaches them.
    tables.jobs.add("prune", "", nowMs + pruneGraceMs + UNPIN_AFTER_MS);
    return { result: enterHistory(tables, history, who, nowMs), isKept: true };
  });
}

/** Removes what no ref reaches of some objects. */
function withdraw(repository: RepositoryState, taken: NumberSet): void {
  const { tables, platform } = repository;
  if (taken.size === 0 || tables === null) return;
  // A step of an upload may rest on them since then.
  const oids = concatOids([tables.refs.all().oids, tables.uploads.allTips()]);
  const isRemoved = platform.transactor.transactionSync(() => removeUnused(tables, oids, taken));
  if (isRemoved) repository.reload();
}

/** Enters the LFS objects that the refs reach now. */
function keepLfs({ tables, platform }: RepositoryState, lfs: EnteredHistory["lfs"]): void {
  if (lfs.length === 0 || tables === null) return;
  platform.transactor.transactionSync(() => enterReachedLfs(tables, lfs, Date.now()));
}
