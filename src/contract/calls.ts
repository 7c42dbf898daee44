// The calls that the Worker makes to an object. A call has one argument and one result; both are
// structured-cloneable and have at most 32 MiB. A call fails with a GitError. A new call is a line
// here and an entry of the object's table.
import type { ProtectedRefs } from "../base/access/ref-rules.ts";
import { GitError, type GitErrorCode, type GitErrorData } from "../base/format/errors.ts";
import type { LfsOid } from "../base/format/lfs.ts";
import type { ObjectType } from "../base/format/object.ts";
import type { BundlePlan } from "./fetch.ts";
import type { CommitRequest, CommitAnswer, ObjectRequest, CommitRecord, ShownCommit, ShownTag } from "./commits.ts";
import type { DiffPageQuery, DiffPage, DiffQuery, FileDiffQuery, FileDiff, ShowRequest } from "./diffs.ts";
import type {
  EventQuery,
  EventPage,
  RepositoryChange,
  CommitStatuses,
  CommitStatus,
  OwnerEventPage,
} from "./events.ts";
import type { ShownWebhook, NewWebhook, WebhookChange, WebhookSettings, Delivery } from "./webhooks.ts";
import type {
  DirectoryRequest,
  Directory,
  FilesRequest,
  FilesPage,
  TreeRequest,
  TreePart,
  LocatedBlob,
  LocatedFile,
  FilesPlanRequest,
  FilesPlan,
} from "./files.ts";
import type {
  ForeignBranch,
  Ancestry,
  ForeignComparison,
  BranchAnswer,
  MergeRequest,
  MergeKind,
  CherryPickRequest,
  RevertRequest,
  SyncAnswer,
} from "./merges.ts";
import type { FsckRequest, FsckReport, MaintenanceKind, MaintenanceStatus, WorktreesStatus } from "./upkeep.ts";
import type { BlameQuery, BlameResult, Comparison, LogQuery, LogPage } from "./history.ts";
import type { NewImport, ImportStatus, ImportChange, MirrorStatus, MirrorRef, NewMirror } from "./remotes.ts";
import type {
  LfsCompletion,
  LockPage,
  LfsBatch,
  LfsBatchAnswer,
  NewLfsUpload,
  LfsUploadStatus,
  LfsUploadName,
  NewLfsPart,
  LfsState,
  LfsListRequest,
  LfsObject,
  StoredLfsObject,
  StoredLfsUpload,
  LfsLock,
} from "./lfs.ts";
import type {
  CommitPage,
  ComparePage,
  EditRequest,
  EditPage,
  FileOfCommit,
  FindPage,
  LogPageRequest,
  HistoryPage,
  PathRequest,
  PathPage,
  PartRequest,
  BranchesPage,
  TagsPage,
  RepositoryPage,
} from "./pages.ts";
import type { BranchRecord, Expected, RefRecord, TagRecord, Annotation, RefColumns } from "./refs.ts";
import type { RefOutcome } from "./push.ts";
import type { Activity, Contributors, Languages, RecordedPush, Stats } from "./tally.ts";
import type { Completion, NewPart, NewStep, NewUpload, UploadStatus } from "./uploads.ts";

/** Calls about the webhooks of a repository or of an owner. */
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
 * @throws GitError "not-found" when the repository does not exist; else the errors of the
 *   call */
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
 * @typeParam Held state that the object holds
 * @typeParam Known further facts about the caller */
export type Answers<Client, Held, Known extends readonly unknown[] = []> = {
  readonly [Name in keyof Client]: Client[Name] extends (...given: infer Given) => infer Result
    ? (held: Held, argument: Given extends [infer Argument] ? Argument : undefined, ...known: Known) => Result
    : never;
};

/** The meanings of ambiguous names. @see OpenRepository.ambiguities */
export type Ambiguities = readonly (readonly string[])[];

/** The result of a call. It carries an error as data, because an error that crosses from the
 * object to the Worker loses its fields. */
export type CallOutcome =
  | { readonly kind: "done"; readonly value: unknown; readonly ambiguities: Ambiguities }
  /** The object has no repository: the name may lead to another object by now. */
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
    if (outcome.kind === "unknown-repository") throw new GitError("not-found", { subject: "repository" });
    noteAmbiguities(outcome.ambiguities);
    if (outcome.kind === "failed") throw new GitError(outcome.code, outcome.data);
    return outcome.value;
  };
  // Methods are made on demand: a request uses one or two of them.
  return new Proxy({} as Client, {
    // JavaScript takes a client with a method `then` for a promise.
    get: (_, name) => (name === "then" ? undefined : method(name as keyof Client & string)),
  });
}
