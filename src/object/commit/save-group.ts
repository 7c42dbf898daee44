// Saves of one branch that wait for its lock share it. Each is made on top of the one before, and
// all are published in one transaction. A transaction's cost hardly grows with its content, and
// twenty writers would otherwise wait for twenty transactions.
import { MAX_SHARED_BYTES, MAX_SHARED_MS } from "../../base/format/limits.ts";
import { isHexOid } from "../../base/format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { BranchDraft } from "./branch-draft.ts";
import { withBranchLock, tryAgain } from "../push/branch-lock.ts";
import type { CommitAnswer, CommitRequest } from "../../contract/commits.ts";
import { draftCommit } from "./draft-commit.ts";
import { HEADS } from "../../base/format/ref-name.ts";

/** A waiting save. */
interface Save {
  readonly repository: OpenRepository;
  readonly request: CommitRequest;
  readonly resolve: (answer: CommitAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes a commit when it gets its branch's lock, and publishes it.
 * @throws GitError @see commit */
export function saveInGroup(repository: OpenRepository, request: CommitRequest): Promise<CommitAnswer> {
  const ref = refOf({ request });
  if (!mayShare(request))
    return withBranchLock(repository, ref, isTipFixed(request), () => saveAlone(repository, request));
  return new Promise((resolve, reject) => {
    repository.state.refMutex.gather<Save>(ref, { repository, request, resolve, reject }, saveAll);
  });
}

/** Makes saves of one branch and reports each result. */
async function saveAll(saves: readonly Save[]): Promise<void> {
  for (let at = 0; at < saves.length;) at += await saveTogether(saves.slice(at));
}

/** Makes as many of the first saves together as the limits allow.
 * @returns how many have been reported */
async function saveTogether(saves: readonly Save[]): Promise<number> {
  if (saves.length === 1) {
    await saveByItself(saves[0]!);
    return 1;
  }
  let outcomes: (() => void)[] = [];
  try {
    await tryAgain(false, async () => {
      outcomes = [];
      const branch = new BranchDraft(saves[0]!.repository, refOf(saves[0]!));
      const untilMs = Date.now() + MAX_SHARED_MS;
      for (const save of saves) {
        outcomes.push(await addTo(branch, save));
        if (branch.isFull || Date.now() >= untilMs) break;
      }
      await branch.publish();
    });
  } catch {
    // Retry each save alone, which shows which one failed. The errors of the others may have
    // depended on it.
    const tried = saves.slice(0, Math.max(1, outcomes.length));
    for (const save of tried) await saveByItself(save);
    return tried.length;
  }
  for (const report of outcomes) report();
  return outcomes.length;
}

/** Makes a save's commit on top of the earlier ones.
 * @returns reports its result; must be called once they are published */
async function addTo(branch: BranchDraft, { repository, request, resolve, reject }: Save): Promise<() => void> {
  try {
    const { answer, made } = await draftCommit(repository, request, branch);
    if (made !== null) branch.add(repository, made);
    return () => resolve(answer);
  } catch (error) {
    return () => reject(error);
  }
}

async function saveByItself(save: Save): Promise<void> {
  const { repository, request } = save;
  try {
    save.resolve(await tryAgain(isTipFixed(request), () => saveAlone(repository, request)));
  } catch (error) {
    save.reject(error);
  }
}

async function saveAlone(repository: OpenRepository, request: CommitRequest): Promise<CommitAnswer> {
  const branch = new BranchDraft(repository, refOf({ request }));
  const { answer, made } = await draftCommit(repository, request, branch);
  if (made !== null) branch.add(repository, made);
  await branch.publish();
  return answer;
}

function refOf({ request }: Pick<Save, "request">): string {
  return HEADS + request.branch;
}

/** Whether the branch must still be where the client saw it. */
function isTipFixed({ base, onConflict }: CommitRequest): boolean {
  return base !== null && onConflict === "fail";
}

/** Whether a save may share a transaction. A name may resolve to another commit once the earlier
 * saves are there, and large content goes to R2. */
function mayShare({ base, operations }: CommitRequest): boolean {
  if (base !== null && !isHexOid(base)) return false;
  const bytes = operations.reduce((sum, operation) => sum + (operation.op === "put" ? operation.content.length : 0), 0);
  return bytes < MAX_SHARED_BYTES;
}
