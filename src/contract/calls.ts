// The calls that the Worker makes to an object. A call has one argument and one result; both can be
// cloned and have at most 32 MiB. Its errors are GitErrors. A new call is a line here and an entry of
// the object's table.
import type { ProtectedRefs } from "../access/ref-rules.ts";
import { GitError, type GitErrorCode, type GitErrorData } from "../format/errors.ts";
import type { LfsOid } from "../format/lfs.ts";
import type { ObjectType } from "../format/object.ts";
import type { BundlePlan } from "../repository/bundle/bundle-plan.ts";
import type { CommitRequest, CommitAnswer } from "../repository/commit/commit-request.ts";
import type { DiffPageQuery, DiffPage, DiffQuery } from "../repository/diff/diff.ts";
import type { FileDiffQuery, FileDiff } from "../repository/diff/file-diff.ts";
import type { ShowRequest } from "../repository/diff/show-commit.ts";
import type { EventQuery, EventPage } from "../repository/events/events.ts";
import type { RepositoryChange } from "../repository/events/owner-changes.ts";
import type { CommitStatuses, CommitStatus } from "../repository/events/statuses.ts";
import type { ShownWebhook, NewWebhook, WebhookChange } from "../repository/events/webhooks.ts";
import type {
  DirectoryRequest,
  Directory,
  FilesRequest,
  FilesPage,
  TreeRequest,
  TreePart,
} from "../repository/files/list-files.ts";
import type { LocatedBlob, LocatedFile } from "../repository/files/locate-file.ts";
import type { FilesPlanRequest, FilesPlan } from "../repository/files/plan-files.ts";
import type { ObjectRequest } from "../repository/files/read-object.ts";
import type { ForeignBranch } from "../repository/forks/borrow.ts";
import type { FsckRequest, FsckReport } from "../repository/fsck/fsck.ts";
import type { BlameQuery, BlameResult } from "../repository/history/blame.ts";
import type { Comparison } from "../repository/history/compare.ts";
import type { Ancestry, ForeignComparison } from "../repository/history/foreign-ancestors.ts";
import type { LogQuery, LogPage } from "../repository/history/log.ts";
import type { NewImport, ImportStatus, ImportChange } from "../repository/import/import.ts";
import type { LfsCompletion } from "../repository/lfs/complete-lfs-upload.ts";
import type { LockPage } from "../repository/lfs/lfs-locks.ts";
import type { LfsBatch, LfsBatchAnswer } from "../repository/lfs/lfs-objects.ts";
import type { NewLfsUpload, LfsUploadStatus, LfsUploadName, NewLfsPart } from "../repository/lfs/lfs-part-uploads.ts";
import type { LfsState, LfsListRequest } from "../repository/lfs/lfs-state.ts";
import type { LfsObject } from "../repository/lfs/lfs-uploads.ts";
import type { MaintenanceKind } from "../repository/maintenance/maintenance-jobs.ts";
import type { MaintenanceStatus } from "../repository/maintenance/status.ts";
import type { BranchAnswer } from "../repository/merge/branch-tip.ts";
import type { MergeRequest, MergeKind } from "../repository/merge/merge-branch.ts";
import type { CherryPickRequest, RevertRequest } from "../repository/merge/pick-commit.ts";
import type { SyncAnswer } from "../repository/merge/sync-branch.ts";
import type { MirrorStatus, MirrorRef, NewMirror } from "../repository/mirrors/mirrors.ts";
import type { CommitRecord } from "../repository/objects/commit-record.ts";
import type { ShownCommit, ShownTag } from "../repository/objects/shown-object.ts";
import type { OwnerEventPage } from "../repository/owners/owner.ts";
import type { CommitPage } from "../repository/pages/commit-page.ts";
import type { ComparePage } from "../repository/pages/compare-page.ts";
import type { EditRequest, EditPage } from "../repository/pages/edit-page.ts";
import type { FileOfCommit } from "../repository/pages/file-before.ts";
import type { FindPage } from "../repository/pages/find-page.ts";
import type { LogPageRequest, HistoryPage } from "../repository/pages/log-page.ts";
import type { PathRequest, PathPage } from "../repository/pages/path-page.ts";
import type { PartRequest, BranchesPage, TagsPage } from "../repository/pages/refs-page.ts";
import type { RepositoryPage } from "../repository/pages/repository-page.ts";
import type { BranchRecord } from "../repository/refs/branches.ts";
import type { Expected, RefRecord } from "../repository/refs/move-ref.ts";
import type { TagRecord, Annotation } from "../repository/refs/tags.ts";
import type { RefOutcome } from "../repository/state/ref-refusal.ts";
import type { Activity } from "../repository/tally/activity.ts";
import type { Contributors } from "../repository/tally/contributors.ts";
import type { Languages } from "../repository/tally/languages.ts";
import type { RecordedPush } from "../repository/tally/pushes.ts";
import type { Stats } from "../repository/tally/stats.ts";
import type { Completion } from "../repository/upload/complete-upload.ts";
import type { NewPart } from "../repository/upload/upload-parts.ts";
import type { NewStep } from "../repository/upload/upload-steps.ts";
import type { NewUpload, UploadStatus } from "../repository/upload/upload.ts";
import type { WorktreesStatus } from "../repository/worktree/worktree-status.ts";
import type { WebhookSettings, Delivery } from "../store/events/webhook-table.ts";
import type { StoredLfsObject } from "../store/lfs/lfs-table.ts";
import type { StoredLfsUpload } from "../store/lfs/lfs-upload-table.ts";
import type { LfsLock } from "../store/lfs/lock-table.ts";
import type { RefColumns } from "../store/refs/refs.ts";

/** Calls about webhooks: those of a repository, or of an owner. */
interface WebhookCalls {
  webhooks(): Promise<ShownWebhook[]>;
  webhook(id: string): Promise<ShownWebhook>;
  createWebhook(request: WebhookSettings & { readonly secret: string | null }): Promise<NewWebhook>;
  changeWebhook(request: WebhookChange & { readonly id: string }): Promise<ShownWebhook>;
  deleteWebhook(id: string): Promise<void>;
  rotateSecret(request: { readonly id: string; readonly secret: string | null }): Promise<NewWebhook>;
  pingWebhook(id: string): Promise<Delivery>;
  deliveries(id: string): Promise<Delivery[]>;
  redeliver(request: { readonly id: string; readonly delivery: number }): Promise<Delivery>;
}

/** The calls to a repository's object. Each is described at its function.
 * @throws GitError "not-found" when the repository does not exist, and the errors of the call */
export interface RepositoryClient extends WebhookCalls {
  checkDefaultBranch(branch: string): Promise<void>;
  setDefaultBranch(branch: string): Promise<void>;

  maintenance(): Promise<MaintenanceStatus>;
  maintain(kinds: readonly MaintenanceKind[]): Promise<MaintenanceStatus>;

  fsck(request: FsckRequest): Promise<FsckReport>;

  planBackup(): Promise<BundlePlan>;
  checkRestore(request: Pick<RefColumns, "names" | "oids">): Promise<boolean>;

  beginUpload(wanted: NewUpload): Promise<UploadStatus>;
  readUpload(id: string): Promise<UploadStatus>;
  endUpload(id: string): Promise<void>;
  beginPart(part: NewPart): Promise<string | null>;
  addPart(request: NewPart & { key: string }): Promise<void>;
  indexStep(step: NewStep): Promise<UploadStatus>;
  completeUpload(completion: Completion): Promise<RefOutcome[]>;

  beginImport(wanted: NewImport): Promise<ImportStatus>;
  readImport(): Promise<ImportStatus>;
  changeImport(change: ImportChange): Promise<ImportStatus>;
  syncImport(): Promise<ImportStatus>;
  endImport(): Promise<void>;

  mirrors(): Promise<MirrorStatus[]>;
  mirror(id: string): Promise<MirrorStatus>;
  mirrorRefs(query: {
    readonly id: string;
    readonly after: string | null;
    readonly limit: number;
    readonly isRefused: boolean;
  }): Promise<{ refs: MirrorRef[]; isLast: boolean }>;
  createMirror(wanted: NewMirror): Promise<MirrorStatus>;
  changeMirror(request: Partial<NewMirror> & { readonly id: string }): Promise<MirrorStatus>;
  syncMirror(id: string): Promise<MirrorStatus>;
  deleteMirror(id: string): Promise<void>;

  lfsState(): Promise<LfsState>;
  listLfsObjects(request: LfsListRequest): Promise<LfsObject[]>;
  lfsBatch(batch: LfsBatch): Promise<LfsBatchAnswer>;
  findLfsObject(oid: LfsOid): Promise<StoredLfsObject>;
  beginLfsObject(object: LfsObject): Promise<string | null>;
  findSignedUpload(request: { readonly oid: LfsOid; readonly upload: string }): Promise<string>;
  addLfsObject(object: StoredLfsObject): Promise<boolean>;
  dropLfsObject(key: string): Promise<void>;
  beginLfsUpload(request: NewLfsUpload): Promise<LfsUploadStatus | null>;
  readLfsUpload(name: LfsUploadName): Promise<LfsUploadStatus>;
  endLfsUpload(name: LfsUploadName): Promise<void>;
  beginLfsPart(part: NewLfsPart): Promise<Pick<StoredLfsUpload, "key" | "write"> | null>;
  addLfsPart(part: NewLfsPart & { tag: string }): Promise<void>;
  completeLfsUpload(name: LfsUploadName): Promise<LfsCompletion>;
  lockFile(request: {
    readonly path: string;
    readonly ref: string | null;
  }): Promise<{ readonly lock: LfsLock; readonly isNew: boolean }>;
  listLocks(wanted: {
    readonly after: string;
    readonly limit: number;
    readonly path?: string;
    readonly id?: string;
  }): Promise<LockPage>;
  verifyLocks(wanted: {
    readonly after: string;
    readonly limit: number;
  }): Promise<LockPage & { readonly owner: string }>;
  unlockFile(request: { readonly id: string; readonly force: boolean; readonly ref: string | null }): Promise<LfsLock>;

  resolve(ref: string): Promise<{ oid: string; type: ObjectType; commit: string | null }>;

  worktrees(): Promise<WorktreesStatus>;
  configureWorktrees(request: { branches: readonly string[] | null }): Promise<WorktreesStatus>;

  commit(request: CommitRequest): Promise<CommitAnswer>;

  branches(request: {
    after: string | null;
    limit: number;
  }): Promise<{ branches: BranchRecord[]; next: string | null }>;
  branch(name: string): Promise<BranchRecord>;
  createBranch(request: { name: string; startPoint: string }): Promise<BranchRecord>;
  moveBranch(request: { name: string; target: string; expected?: Expected; force: boolean }): Promise<BranchRecord>;
  renameBranch(request: { name: string; newName: string; expected?: Expected }): Promise<BranchRecord>;
  tags(request: { after: string | null; limit: number }): Promise<{ tags: TagRecord[]; next: string | null }>;
  tag(request: { readonly name: string; readonly part: number }): Promise<TagRecord>;
  createTag(request: { name: string; target: string; annotation: Annotation | null }): Promise<TagRecord>;
  moveTag(change: {
    name: string;
    target: string;
    annotation: Annotation | null;
    expected?: Expected;
    force: boolean;
  }): Promise<TagRecord>;
  renameTag(request: { name: string; newName: string; expected?: Expected }): Promise<TagRecord>;
  putRef(request: { name: string; target: string; expected?: Expected; force: boolean }): Promise<RefRecord>;
  deleteRef(request: { name: string; expected: Expected }): Promise<void>;
  protectedRefs(): Promise<ProtectedRefs[]>;
  configureProtectedRefs(rules: readonly ProtectedRefs[]): Promise<ProtectedRefs[]>;

  merge(request: MergeRequest): Promise<BranchAnswer<MergeKind>>;
  syncBranch(request: { branch: string; source: ForeignBranch }): Promise<SyncAnswer>;

  ancestry(revision: string): Promise<Ancestry>;
  commonAncestors(request: { revision: string; oids: Uint8Array }): Promise<ForeignComparison>;

  cherryPick(request: CherryPickRequest): Promise<BranchAnswer<"picked" | "unchanged">>;
  revert(request: RevertRequest): Promise<BranchAnswer<"reverted" | "unchanged">>;

  log(query: LogQuery): Promise<LogPage>;
  blame(query: BlameQuery): Promise<BlameResult>;
  mergeBase(request: {
    base: string;
    heads: readonly string[];
  }): Promise<{ base: string; heads: string[]; mergeBases: string[] }>;

  listDirectory(request: DirectoryRequest): Promise<Directory>;
  listFiles(request: FilesRequest): Promise<FilesPage>;
  listTree(request: TreeRequest): Promise<TreePart>;
  locateBlob(oid: string): Promise<LocatedBlob>;
  locateFile(parts: readonly string[]): Promise<LocatedFile>;
  planFiles(request: FilesPlanRequest): Promise<FilesPlan>;
  readCommit(request: ObjectRequest): Promise<ShownCommit>;
  readTag(request: ObjectRequest): Promise<ShownTag>;

  showCommit(request: ShowRequest): Promise<ShownCommit>;

  compare(query: { base: string; head: string }): Promise<Comparison>;
  commitsBetween(query: { bases: readonly string[]; head: string; limit: number }): Promise<CommitRecord[]>;

  diff(query: DiffPageQuery): Promise<DiffPage>;
  fileDiff(query: FileDiffQuery): Promise<FileDiff>;
  patch(query: DiffQuery): Promise<{ bytes: Uint8Array; next: number | null }>;

  activity(request: {
    readonly ref: string;
    readonly since: string;
    readonly until: string;
    readonly per: "day" | "week";
  }): Promise<Activity>;
  contributors(request: { readonly ref: string; readonly from: number; readonly limit: number }): Promise<Contributors>;
  languages(ref: string): Promise<Languages>;
  pushes(request: {
    readonly ref: string | null;
    readonly before: number | null;
    readonly limit: number;
  }): Promise<{ pushes: readonly RecordedPush[]; next: number | null }>;

  events(request: EventQuery): Promise<EventPage>;
  noteRepositoryChange(change: RepositoryChange): Promise<void>;
  statuses(ref: string): Promise<CommitStatuses>;
  setStatus(
    request: Pick<CommitStatus, "context" | "state" | "description" | "url"> & { readonly ref: string },
  ): Promise<CommitStatuses>;

  stats(ref: string | null): Promise<Stats>;

  repositoryPage(): Promise<RepositoryPage>;
  pathPage(request: PathRequest): Promise<PathPage>;
  editPage(request: EditRequest): Promise<EditPage>;
  findPage(request: { readonly parts: readonly string[]; readonly wanted: string }): Promise<FindPage>;
  logPage(request: LogPageRequest): Promise<HistoryPage>;
  commitPage(request: ShowRequest): Promise<CommitPage>;
  comparePage(request: { names: readonly string[] }): Promise<ComparePage>;
  stableName(request: { readonly name: string }): Promise<string>;
  branchesPage(request: PartRequest): Promise<BranchesPage>;
  tagsPage(request: PartRequest): Promise<TagsPage>;
  fileBefore(request: FileOfCommit): Promise<FileOfCommit | null>;
}

/** The calls to an owner's object. */
export interface OwnerClient extends WebhookCalls {
  events(query: EventQuery): Promise<OwnerEventPage>;
}

/** The names of the calls to a repository's object. */
export type CallName = keyof RepositoryClient;

/** The names of the calls to an owner's object. */
export type OwnerCallName = keyof OwnerClient;

/** The functions that answer the calls of a client.
 * @typeParam Held what the object holds
 * @typeParam Known what else is known of the caller */
export type Answers<Client, Held, Known extends readonly unknown[] = []> = {
  readonly [Name in keyof Client]: Client[Name] extends (...given: infer Given) => infer Result
    ? (held: Held, argument: Given extends [infer Argument] ? Argument : undefined, ...known: Known) => Result
    : never;
};

/** The meanings of ambiguous names. @see OpenRepository.ambiguities */
export type Ambiguities = readonly (readonly string[])[];

/** The result of a call, in a form that can cross from the object to the Worker, where errors would
 * lose their data. */
export type CallOutcome =
  | { readonly kind: "done"; readonly value: unknown; readonly ambiguities: Ambiguities }
  /** This object has no repository: the name may now belong to another object. */
  | { readonly kind: "unknown-repository" }
  | {
      readonly kind: "failed";
      readonly code: GitErrorCode;
      readonly data: GitErrorData;
      readonly ambiguities: Ambiguities;
    };

/** Makes a client, whose methods are the calls.
 * @param send carries a call to the object
 * @param noteAmbiguities receives the ambiguous names in a call */
export function newClient<Client extends object>(
  send: (name: keyof Client & string, argument: unknown) => Promise<CallOutcome>,
  noteAmbiguities: (ambiguities: Ambiguities) => void = () => undefined,
): Client {
  const method = (name: keyof Client & string) => async (argument: unknown) => {
    const outcome = await send(name, argument);
    if (outcome.kind === "unknown-repository") throw new GitError("not-found", { what: "repository" });
    noteAmbiguities(outcome.ambiguities);
    if (outcome.kind === "failed") throw new GitError(outcome.code, outcome.data);
    return outcome.value;
  };
  // A request uses one or two methods, so each is made on demand.
  return new Proxy({} as Client, {
    // A client that has the method `then` would be taken for a promise.
    get: (_, name) => (name === "then" ? undefined : method(name as keyof Client & string)),
  });
}
