// A large push is prepared before its transaction, in slices between which other requests run, and
// most of its index is staged. What is left for the transaction takes some tens of milliseconds.
import type { PackIndex } from "../../base/codec/pack-index.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { Tables } from "../store/tables.ts";
import { pause, finishInSlices } from "../../base/pacing/time-slice.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { type PreparedPush, preparePush, type PushContents, type Unread } from "./prepare-push.ts";
import { PushedObjects } from "./pushed-objects.ts";
import type { ReturnedTrees } from "./returned-trees.ts";

/** From this many objects on, a push is prepared early: applying fewer takes less than 50 ms. */
const LARGE_PUSH_OBJECTS = 5_000;

/** How often that is begun, as long as others write meanwhile. */
const PREPARATIONS = 3;

/** A push that was prepared, and the state of the repository that this rests on. */
export interface EarlyPush {
  readonly layout: string;
  /** The tables in which it is staged. Of a repository that does not exist yet: they become its
   * own. */
  readonly tables: Tables;
  readonly pushed: PushedObjects;
  readonly push: PreparedPush;
}

/** The push to prepare. */
interface PushToPrepare {
  readonly index: PackIndex;
  /** Stored trees that have been read. */
  readonly returned: ReturnedTrees;
  /** What is written of it. */
  describe(tables: Tables, pushed: PushedObjects): PushContents;
  /** Reads stored trees that it needs. */
  readTrees(trees: readonly ObjectNumber[]): Promise<void>;
}

/** Prepares a large push. Whoever does not apply it must discard it.
 * @returns null: the push is small, or something was written to the repository each time */
export async function prepareEarly(repository: RepositoryState, push: PushToPrepare): Promise<EarlyPush | null> {
  if (push.index.count < LARGE_PUSH_OBJECTS) return null;
  for (let attempt = 0; attempt < PREPARATIONS;) {
    const tables = repository.prepareTables();
    const { layout } = repository;
    const goesOn = (): boolean => repository.layout === layout;
    const early = await finishInSlices(prepareSteps(tables, push), goesOn);
    if (early === null) attempt += 1;
    else if ("unread" in early.push) await push.readTrees(early.push.unread);
    else {
      const index = await stage(repository.tables, early.push.index, goesOn);
      if (goesOn()) return { layout, tables, pushed: early.pushed, push: { ...early.push, index } };
      attempt += 1;
    }
  }
  return null;
}

/** Whether a push can be applied as it was prepared. */
export function isUpToDate(repository: RepositoryState, { layout, tables, push }: EarlyPush): boolean {
  return layout === repository.layout && (push.index === null || tables.objects.isStaged(push.index));
}

/** Removes what was staged of a push, unless it was applied. In a transaction, so that a fork that
 * has copied some of it begins again. */
export function discard(repository: RepositoryState, { layout, tables, push: { index } }: EarlyPush): void {
  const staged = index?.staged ?? null;
  if (index === null || staged === null || !tables.objects.isStaged(index)) return;
  // Those of a repository that does not exist may have been made anew since.
  if (repository.tables === null && layout !== repository.layout) return;
  repository.platform.transactor.transactionSync(() => tables.objects.unstage(staged));
}

function* prepareSteps(
  tables: Tables,
  push: PushToPrepare,
): Generator<void, { pushed: PushedObjects; push: PreparedPush | Unread }> {
  const pushed = yield* PushedObjects.prepare(push.index, tables.objects);
  const contents = push.describe(tables, pushed);
  return { pushed, push: yield* preparePush(tables, tables.graph.copy(), contents, push.returned, true) };
}

/** Stages the index, a row in each turn. */
async function stage(
  tables: Tables | null,
  index: PreparedPush["index"],
  goesOn: () => boolean,
): Promise<PreparedPush["index"]> {
  // What is left of a new repository's index is written when it is created.
  if (index === null || tables === null) return index;
  return finishInSlices(tables.objects.stage(index), goesOn, { pause });
}
