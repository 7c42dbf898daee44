// What a push will write, worked out before its transaction: most of the time that applying a large
// push takes. It is done in steps, so that others are served meanwhile. It holds only as long as
// nothing else is written to the repository.
import type { GraphPosition, ObjectNumber } from "../../store/numbers/kinds.ts";
import type { PreparedObjects } from "../../store/index/object-index.ts";
import type { PreparedPage } from "../../store/index/record-pages.ts";
import type { CommitGraph } from "../../store/graph/commit-graph.ts";
import type { Tables } from "../../store/tables.ts";
import type { PushStep, RefCommand } from "../state/push.ts";
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
  const { pushed, written, steps } = push;
  const targets = findTargets(tables, push);
  const before = graph.length;
  yield* graph.appendInSteps(yield* newNodes(graph, pushed, targets));
  yield;
  const introductions = yield* introduce(pushed, graph, before, storedObjects(tables, pushed, returned));
  if (introductions.unread.length > 0) return { unread: introductions.unread };
  const firstPush = tables.pushes.nextId();
  const stepAt = (packOffset: number): number => steps?.findIndex(({ packEnd }) => packOffset < packEnd) ?? 0;
  const firstChunk = tables.chunks.nextId();
  const rows = yield* layOutRows(
    pushed,
    written,
    introductions.introducers,
    firstChunk,
    (packOffset) => firstPush + stepAt(packOffset),
  );
  const index = rows.objects.number.length === 0 ? null : yield* tables.objects.prepare(rows.objects);
  const nodes = isLarge ? yield* tables.prepareNodes(graph, before, introductions.introduced) : null;
  // The transaction, which cannot be divided, begins a slice of its own.
  yield;
  return { targets, graph, before, introductions, rows, index, nodes };
}
