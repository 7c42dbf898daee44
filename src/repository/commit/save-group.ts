// Saves of one branch that wait for their turn take it together: each is made on top of the one before, and all of them are published in
// one transaction. What a transaction costs does not grow much with what is in it, and twenty writers would wait for twenty of them.
import { MAX_SHARED_BYTES, MAX_SHARED_MS } from "../../format/limits.ts";
import { isHexOid } from "../../format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { BranchDraft, BRANCHES } from "./branch-draft.ts";
import { withBranchLock, tryAgain } from "../publish/branch-lock.ts";
import type { CommitAnswer, CommitRequest } from "./commit-request.ts";
import { draftCommit } from "./draft-commit.ts";

/** A save that waits. */
interface Save {
  readonly repository: OpenRepository;
  readonly request: CommitRequest;
  readonly resolve: (answer: CommitAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes a commit when it is its branch's turn, and publishes it.
 * @throws GitError @see commit */
export function saveInGroup(repository: OpenRepository, request: CommitRequest): Promise<CommitAnswer> {
  const ref = refOf({ request });
  if (!mayShare(request))
    return withBranchLock(repository, ref, isMinded(request), () => saveAlone(repository, request));
  return new Promise((resolve, reject) => {
    repository.state.refMutex.gather<Save>(ref, { repository, request, resolve, reject }, saveAll);
  });
}

/** Makes saves of one branch and tells each what became of it. */
async function saveAll(saves: readonly Save[]): Promise<void> {
  for (let at = 0; at < saves.length;) at += await saveTogether(saves.slice(at));
}

/** Makes the first of the saves together, as many as may be.
 * @returns how many have been told what became of them */
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
    // Whose fault it is shows when each is by itself. What the others were refused for may have rested on it.
    const tried = saves.slice(0, Math.max(1, outcomes.length));
    for (const save of tried) await saveByItself(save);
    return tried.length;
  }
  for (const tell of outcomes) tell();
  return outcomes.length;
}

/** Makes a save's commit on top of those of others.
 * @returns tells what became of it; to be called once they are published */
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
    save.resolve(await tryAgain(isMinded(request), () => saveAlone(repository, request)));
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
  return BRANCHES + request.branch;
}

/** Whether the branch must be where the caller saw it. */
function isMinded({ base, onConflict }: CommitRequest): boolean {
  return base !== null && onConflict === "fail";
}

/** Whether a save may share a transaction: what a name stands for may be another commit once the saves before are there, and what is
 * large goes to R2. */
function mayShare({ base, operations }: CommitRequest): boolean {
  if (base !== null && !isHexOid(base)) return false;
  const bytes = operations.reduce((sum, operation) => sum + (operation.op === "put" ? operation.content.length : 0), 0);
  return bytes < MAX_SHARED_BYTES;
}
