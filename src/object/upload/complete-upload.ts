import { equalOids, fromHex, isNullOid, NULL_OID, type Oid, toHex } from "../../base/format/oid.ts";
import { uploadPrefix } from "../store/jobs/upload-table.ts";
import type { Tables } from "../store/tables.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { ReceivePack } from "../push/receive-pack.ts";
import type { RefCommand, RefOutcome } from "../../contract/push.ts";
import type { UploadFrame } from "../state/push.ts";
import { findOpenUpload, findUpload } from "./upload.ts";
import type { Completion } from "../../contract/uploads.ts";

/** Moves the refs of a session, in one transaction, by the rules of any push. If one moves, the
 * session is complete. Completing it again tells where its refs are.
 * @returns the outcome of each change
 * @throws GitError "not-found", and what refuses a push as a whole */
export async function completeUpload(repository: OpenRepository, completion: Completion): Promise<RefOutcome[]> {
  const { id, atomic } = completion;
  const { options, isDone } = findUpload(repository.tables, id);
  const toOid = (hex: string | null): Oid => (hex === null ? NULL_OID : fromHex(hex));
  const commands = completion.refs.map(({ name, old, new: to }) => ({ name, old: toOid(old), new: toOid(to) }));
  if (isDone) return commands.map((command) => judgeMoved(repository.tables, command));
  const push = new ReceivePack(repository.state, {
    commands,
    atomic,
    pushOptions: options,
    shallow: [],
    pack: null,
    agent: null,
    requester: repository.requester,
    upload: newFrame(repository, id),
    note: (cost) => repository.pushes.push(cost),
    progress: () => undefined,
  });
  return push.take();
}

function newFrame({ state }: OpenRepository, id: string): UploadFrame {
  let brought = { packBytes: 0, objects: 0 };
  return {
    isStep: false,
    replacedBytes: 0,
    get brought() {
      return brought;
    },
    check(tables) {
      brought = findOpenUpload(tables, id);
    },
    finish(tables) {
      const nowMs = Date.now();
      tables.uploads.finish(id);
      tables.jobs.add("sweep", uploadPrefix(state.key, id), nowMs);
      // What no ref reaches of it; a run that finds nothing costs little.
      tables.jobs.add("prune", "", nowMs + state.platform.limits.pruneGraceMs);
    },
  };
}

/** The outcome of a change that was asked for again. */
function judgeMoved({ refs }: Tables, command: RefCommand): RefOutcome {
  const { name, old, new: wanted } = command;
  const actual = refs.get(name)?.oid ?? null;
  const isMoved = actual === null ? isNullOid(wanted) : equalOids(actual, wanted);
  if (isMoved) return { name, refusal: null };
  const expected = isNullOid(old) ? null : toHex(old);
  return { name, refusal: { kind: "stale", expected, actual: actual && toHex(actual) } };
}
