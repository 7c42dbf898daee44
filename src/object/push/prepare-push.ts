// What a push will write, worked out before its transaction: most of the time that applying a large
// push takes. It is done in steps, so that others are served meanwhile. It holds only as long as
// nothing else is written to the repository.
import type { ChunkId, GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import type { PreparedObjects } from "../store/index/prepared-objects.ts";
import type { PreparedPage } from "../store/index/record-pages.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { Tables } from "../store/tables.ts";
import type { PushStep } from "../state/push.ts";
import type { RefCommand } from "../../contract/push.ts";
import { layOutRows, type StoredRows } from "./chunk-rows.ts";
import type { WrittenChunk } from "./chunk-writer.ts";
import { introduce, type Introductions } from "./introduce.ts";
import { findTargets, newNodes, storedObjects, type Target } from "./push-graph.ts";
import type { PushedObjects } from "./pushed-objects.ts";
import type { ReturnedTrees } from "./returned-trees.ts";

/** What is written of a push, but for its refs. */
export interface PushContents {
  readonly commands: readonly RefCommand[];
  readonly pushed: PushedObjects;
  readonly written: readonly WrittenChunk[];
  /** The changes that its one command consists of; null: the command is one change. */
  readonly steps: readonly PushStep[] | null;
}

/** A push, ready to be written. */
export interface PreparedPush {
  /** The object that each command names; null: it is missing. */
  readonly targets: readonly (Target | null)[];
  /** The graph with the push's nodes. */
  readonly graph: CommitGraph;
  /** Position of the first of them. */
  readonly before: GraphPosition;
  readonly introductions: Introductions;
  readonly rows: StoredRows;
  readonly index: PreparedObjects | null;
  /** The rows of the push's nodes; null: they are few, and are appended to the last row. */
  readonly nodes: readonly PreparedPage[] | null;
}

/** These stored trees must be read first. */
export interface Unread {
  readonly unread: readonly ObjectNumber[];
}

/** From this many objects on, the rows of the index are written as they are made: all of them are
 * some 150 bytes for each. */
const STAGED_OBJECTS = 50_000;

/** The rows of a push, and those of its index ready to be inserted. */
function* prepareRows(
  { objects }: Tables,
  { pushed, written }: PushContents,
  firstChunk: ChunkId,
  pushAt: (packOffset: number) => number,
  isLarge: boolean,
): Generator<void, Pick<PreparedPush, "rows" | "index">> {
  const isStaged = isLarge && pushed.freshCount >= STAGED_OBJECTS && written.every(({ bytes }) => bytes === null);
  if (!isStaged) {
    const rows = yield* layOutRows(pushed, written, firstChunk, pushAt);
    return { rows, index: rows.objects.number.length === 0 ? null : yield* objects.prepare(rows.objects) };
  }
  const staging = objects.beginStaging(pushed.firstNumber, pushed.freshCount);
  let isWhole = false;
  try {
    const rows = yield* layOutRows(pushed, written, firstChunk, pushAt, staging);
    const index = yield* staging.finish();
    isWhole = true;
    return { rows, index };
  } finally {
    if (!isWhole) staging.abandon();
  }
}

/** Prepares a push. Yields between steps.
 * @param graph the tables', or a copy of it: the push's nodes are appended
 * @param isLarge whether the nodes get rows of their own
 * @throws GitError */
export function* preparePush(
  tables: Tables,
  graph: CommitGraph,
  push: PushContents,
  returned: ReturnedTrees,
  isLarge: boolean,
): Generator<void, PreparedPush | Unread> {
  const { pushed, steps } = push;
  const targets = findTargets(tables, push);
  const before = graph.length;
  yield* graph.appendInSteps(yield* newNodes(graph, pushed, targets));
  yield;
  const introductions = yield* introduce(pushed, graph, before, storedObjects(tables, pushed, returned));
  if (introductions.unread.length > 0) return { unread: introductions.unread };
  const firstPush = tables.pushes.nextId();
  const stepAt = (packOffset: number): number => steps?.findIndex(({ packEnd }) => packOffset < packEnd) ?? 0;
  const firstChunk = tables.chunks.nextId();
  const pushAt = (packOffset: number): number => firstPush + stepAt(packOffset);
  const { rows, index } = yield* prepareRows(tables, push, firstChunk, pushAt, isLarge);
  const nodes = isLarge ? yield* tables.prepareNodes(graph, before, introductions.introduced) : null;
  // The transaction, which cannot be divided, begins a slice of its own.
  yield;
  return { targets, graph, before, introductions, rows, index, nodes };
}
