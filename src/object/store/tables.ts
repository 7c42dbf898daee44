import { AuthorTable } from "./graph/author-table.ts";
import { BundleTable, ResponseTable } from "./jobs/response-table.ts";
import { openNodes } from "./index/node-pages.ts";
import { ChunkTable } from "./index/chunk-table.ts";
import { CommitGraph } from "./graph/commit-graph.ts";
import { ImportTable } from "./remotes/import-table.ts";
import { JobQueue } from "./jobs/jobs.ts";
import { MirrorTable } from "./remotes/mirror-table.ts";
import { LfsTable } from "./lfs/lfs-table.ts";
import { LfsUploadTable } from "./lfs/lfs-upload-table.ts";
import { LockTable } from "./lfs/lock-table.ts";
import type { NumberSet } from "../../base/numbers/number-set.ts";
import { ObjectIndex } from "./index/object-index.ts";
import { PathFilterTable } from "./graph/path-filter-table.ts";
import { PushLog } from "./refs/push-log.ts";
import { RefRuleTable } from "./refs/ref-rule-table.ts";
import { Reachability } from "./graph/reachability.ts";
import type { PreparedPage } from "./index/record-pages.ts";
import { RefStore } from "./refs/refs.ts";
import { removePointers, removeRows } from "./index/removed-rows.ts";
import { SharedObjects } from "./forks/pin-table.ts";
import type { Sql } from "./sql/sql.ts";
import { TreeSumTable } from "./index/tree-sum-table.ts";
import { TreeTable } from "./index/tree-table.ts";
import { VettedBlobs } from "./index/vetted-blobs.ts";
import { StatusTable } from "./events/status-table.ts";
import { WebhookTable } from "./events/webhook-table.ts";
import { EventTable } from "./events/event-table.ts";
import { UploadTable } from "./jobs/upload-table.ts";
import { WorktreeTable } from "./jobs/worktree-table.ts";

/** The graph in memory, and the tables that use its positions. */
interface GraphTables {
  readonly graph: CommitGraph;
  readonly reachability: Reachability;
  readonly authors: AuthorTable;
  readonly pathFilters: PathFilterTable;
}

/** The opened tables of one existing repository. Opening reads nothing. */
export class Tables {
  readonly refs: RefStore;
  readonly refRules: RefRuleTable;
  readonly objects: ObjectIndex;
  readonly chunks: ChunkTable;
  readonly trees: TreeTable;
  readonly treeSums: TreeSumTable;
  readonly responses: ResponseTable;
  readonly vetted: VettedBlobs;
  readonly jobs: JobQueue;
  readonly pushes: PushLog;
  readonly bundles: BundleTable;
  readonly worktrees: WorktreeTable;
  readonly shared: SharedObjects;
  readonly uploads: UploadTable;
  readonly imports: ImportTable;
  readonly mirrors: MirrorTable;
  readonly lfs: LfsTable;
  readonly lfsUploads: LfsUploadTable;
  readonly locks: LockTable;
  readonly events: EventTable;
  readonly webhooks: WebhookTable;
  readonly statuses: StatusTable;

  readonly #sql: Sql;
  #ofGraph: GraphTables | null = null;

  /** @param jobs the repository's only queue
   * @param former the tables of the same repository, if it was opened before: there is only one
   *   index and one table of chunks, with empty caches */
  constructor(sql: Sql, jobs: JobQueue = new JobQueue(sql), former: Tables | null = null) {
    this.#sql = sql;
    this.refs = new RefStore(sql);
    this.refRules = new RefRuleTable(sql);
    this.objects = former?.objects ?? new ObjectIndex(sql);
    this.chunks = former?.chunks ?? new ChunkTable(sql, this.objects);
    this.trees = new TreeTable(sql);
    this.treeSums = new TreeSumTable(sql);
    this.responses = new ResponseTable(sql);
    this.vetted = new VettedBlobs(sql);
    this.jobs = jobs;
    this.pushes = new PushLog(sql);
    this.bundles = new BundleTable(sql);
    this.worktrees = new WorktreeTable(sql);
    this.shared = new SharedObjects(sql);
    this.uploads = new UploadTable(sql);
    this.imports = new ImportTable(sql);
    this.mirrors = new MirrorTable(sql);
    this.lfs = new LfsTable(sql);
    this.lfsUploads = new LfsUploadTable(sql);
    this.locks = new LockTable(sql);
    this.events = new EventTable(sql);
    this.webhooks = new WebhookTable(sql);
    this.statuses = new StatusTable(sql);
  }

  /** The commit graph, read on first use: a request for the refs alone does not wait for it. */
  get graph(): CommitGraph {
    return this.#graphTables().graph;
  }

  get reachability(): Reachability {
    return this.#graphTables().reachability;
  }

  get authors(): AuthorTable {
    return this.#graphTables().authors;
  }

  get pathFilters(): PathFilterTable {
    return this.#graphTables().pathFilters;
  }

  #graphTables(): GraphTables {
    if (this.#ofGraph !== null) return this.#ofGraph;
    const sql = this.#sql;
    const graph = CommitGraph.load(sql);
    this.#ofGraph = {
      graph,
      reachability: new Reachability(sql, this.objects, graph),
      authors: new AuthorTable(sql, graph),
      pathFilters: new PathFilterTable(sql, graph),
    };
    return this.#ofGraph;
  }

  /** Clears the caches of index, chunks, import, mirrors and LFS objects, which may differ from the
   * tables. */
  forget(): void {
    this.lfs.forget();
    this.objects.forget();
    this.chunks.forget();
    this.imports.forget();
    this.mirrors.forget();
  }

  /** Yields the R2 objects that contain chunks and LFS objects. */
  *neededKeys(): Generator<string, void> {
    yield* this.chunks.keys();
    yield* this.lfs.keys();
  }

  /** Removes objects and nodes permanently; must run in a transaction. The graph in memory does not
   * change: reopen the tables.
   * @throws GitError as `ObjectIndex.remove` */
  remove(objects: NumberSet, nodes: NumberSet): void {
    this.objects.remove(objects);
    openNodes(this.#sql).remove(nodes);
    this.authors.remove(nodes);
    this.pathFilters.remove(nodes);
    this.treeSums.remove(objects);
    removeRows(this.#sql, objects, nodes);
  }

  /** Hides objects: from now on they serve only as delta bases of others, and do not count as LFS
   * pointers; must run in a transaction.
   * @throws GitError as `ObjectIndex.remove` */
  hide(objects: NumberSet): void {
    this.objects.hide(objects);
    removePointers(this.#sql, objects);
  }

  /** Writes the graph's nodes from position `from` on.
   * @param introduced one set per node, in order of position */
  writeNodes(from: number, introduced: readonly NumberSet[]): void {
    this.graph.write(this.#sql, from, introduced);
  }

  /** Encodes the nodes of a graph that this one is going to adopt, page by page. */
  prepareNodes(graph: CommitGraph, from: number, introduced: readonly NumberSet[]): Generator<void, PreparedPage[]> {
    return graph.prepare(this.#sql, from, introduced);
  }

  /** Writes prepared nodes. */
  writePreparedNodes(pages: readonly PreparedPage[]): void {
    openNodes(this.#sql).insertPrepared(pages);
  }
}
