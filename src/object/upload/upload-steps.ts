import { GitError, isGitError } from "../../base/format/errors.ts";
import { checkLimit, MAX_UPLOAD_TIPS, UPLOAD_LIFE_MS } from "../../base/format/limits.ts";
import { concatOids, fromHex, NULL_OID, OID_BYTES, type Oid } from "../../base/format/oid.ts";
import type { StoredPart } from "../store/jobs/upload-table.ts";
import type { Tables } from "../store/tables.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { ReceivePack } from "../push/receive-pack.ts";
import type { UploadFrame } from "../state/push.ts";
import { explainRefusal, findRefused } from "../../contract/push.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import { ArrivingParts } from "./arriving-parts.ts";
import { PackBody } from "./pack-body.ts";
import { listed, StepPack, type StepParts } from "./step-pack.ts";
import { findOpenUpload, readUpload } from "./upload.ts";
import type { UploadStatus, NewStep } from "../../contract/uploads.ts";

/** Parts that are removed at a time: a local bucket takes 5 ms for each, in which nobody else
 * runs. */
const REMOVED_PARTS = 4;

/** Indexes a pack as a step: a push that moves no ref. Everything that its tips reach must be in
 * the pack or stored. Its parts are removed once their objects are stored; a step that is refused
 * or cut off leaves them.
 * @returns the session after it
 * @throws GitError "not-found", "conflict" when another step is being indexed, "invalid" for a part
 * that is missing or lost, or a pack that is incomplete, "timeout" when the body or a part does not
 * come, "bad-request" when the body is cut, and what refuses the pack of a push */
export async function indexStep(repository: OpenRepository, step: NewStep): Promise<UploadStatus> {
  const { body, parts } = openParts(repository, step);
  try {
    return await indexOpened(repository, step, body, parts);
  } finally {
    await body?.cancel();
  }
}

function openParts(repository: OpenRepository, { id, pack }: NewStep): { body: PackBody | null; parts: StepParts } {
  findOpenUpload(repository.tables, id);
  if (!("body" in pack)) return { body: null, parts: listed(findParts(repository.tables, id, pack)) };
  const parts = pack.from === null ? listed([]) : new ArrivingParts(repository, id, pack.from);
  return { body: new PackBody(pack.body), parts };
}

async function indexOpened(
  repository: OpenRepository,
  step: NewStep,
  body: PackBody | null,
  parts: StepParts,
): Promise<UploadStatus> {
  const { state } = repository;
  const { options } = findOpenUpload(repository.tables, step.id);
  if (state.stepsUnderWay.has(step.id)) {
    const reason = "another step of it is being indexed; wait until that has ended";
    throw new GitError("conflict", { what: "upload", reason });
  }
  const progress = { title: "", done: 0, total: parts.storedBytes };
  const pack = new StepPack(repository.chunks, body, parts, (done) => {
    if (progress.title === "") Object.assign(progress, { done, total: Math.max(done, parts.storedBytes) });
  });
  state.stepsUnderWay.set(step.id, progress);
  try {
    const push = new ReceivePack(state, {
      commands: step.tips.map((tip) => ({ name: tip, old: NULL_OID, new: fromHex(tip) })),
      atomic: true,
      pushOptions: options,
      shallow: [],
      pack,
      agent: null,
      requester: repository.requester,
      upload: newStepFrame(step, parts, () => pack.readBytes),
      note: (cost) => repository.pushes.push(cost),
      progress: (title, done, total) => Object.assign(progress, { title, done, total }),
    });
    const refused = findRefused(await push.take());
    if (refused !== null) {
      const reason = `${refused.name}: ${explainRefusal(refused.refusal)}`;
      throw new GitError("invalid", { what: "step", field: "tips", reason });
    }
  } catch (error) {
    await forgetLost(repository, step.id, parts.known, error);
    throw error;
  } finally {
    state.stepsUnderWay.delete(step.id);
    await pack.cancel();
  }
  await removeParts(repository, parts.known);
  return readUpload(repository, step.id);
}

/** Removes parts whose objects are stored. If this fails, the end of the session removes them. */
async function removeParts({ chunks }: OpenRepository, parts: readonly StoredPart[]): Promise<void> {
  for (let from = 0; from < parts.length; from += REMOVED_PARTS) {
    const keys = parts.slice(from, from + REMOVED_PARTS).map(({ key }) => key);
    await chunks.delete(keys).catch(() => undefined);
    await pause();
  }
}

/** @throws GitError "invalid" when a part has not arrived, or is named twice */
function findParts({ uploads }: Tables, id: string, parts: readonly number[]): StoredPart[] {
  const stored = new Map(uploads.parts(id).map((part) => [part.part, part]));
  return parts.map((number) => {
    const part = stored.get(number);
    if (part === undefined) {
      const reason = `part ${number} is not there, or is named twice: send it, or name parts that have arrived`;
      throw new GitError("invalid", { what: "step", field: "parts", reason });
    }
    stored.delete(number);
    return part;
  });
}

/** Forgets a part whose object is not in the bucket any more, so that it can be sent again.
 * @param error why the parts could not be read
 * @throws GitError "invalid" that names the part, if it is so */
async function forgetLost(
  { state, tables, chunks }: OpenRepository,
  id: string,
  parts: readonly StoredPart[],
  error: unknown,
): Promise<void> {
  const failed = isGitError(error, "storage-failed") ? parts.find(({ key }) => key === error.data.key) : undefined;
  if (failed === undefined) return;
  // If the bucket does not say that it is gone, it may be readable the next time.
  const isLost = await chunks.stat(failed.key).then(
    (stat) => stat === null,
    () => false,
  );
  if (!isLost) return;
  state.transactAside(() => tables.uploads.removePart(id, failed));
  const reason = `part ${failed.part} has been lost by the bucket; send it again`;
  throw new GitError("invalid", { what: "step", field: "parts", reason }, { cause: error });
}

/** What a step does beside bringing objects.
 * @param parts whose place it takes
 * @param packBytes returns the bytes of its pack, once it has been read */
export function newStepFrame(
  { id, tips }: Pick<NewStep, "id" | "tips">,
  parts: Pick<StepParts, "known" | "storedBytes">,
  packBytes: () => number,
): UploadFrame {
  let lastBefore = 0;
  let remaining: Oid[] = [];
  return {
    isStep: true,
    get replacedBytes() {
      return parts.storedBytes;
    },
    brought: { packBytes: 0, objects: 0 },
    check(tables) {
      const upload = findOpenUpload(tables, id);
      const keys = new Set(tables.uploads.parts(id).map(({ key }) => key));
      if (!parts.known.every(({ key }) => keys.has(key))) {
        throw new GitError("conflict", {
          what: "upload",
          reason: "a part of the step was replaced while it was indexed",
        });
      }
      remaining = listOids(upload.tips);
      const most = "what steps end with and no later step reaches (objects)";
      checkLimit(most, MAX_UPLOAD_TIPS, remaining.length + tips.length, "complete this upload, then begin another");
      lastBefore = tables.objects.lastNumber();
    },
    finish(tables) {
      const added = tips.map((tip) => fromHex(tip));
      tables.uploads.addStep(
        id,
        parts.known.map(({ part }) => part),
        {
          objects: tables.objects.lastNumber() - lastBefore,
          packBytes: packBytes(),
          endsMs: Date.now() + UPLOAD_LIFE_MS,
        },
        concatOids([...findUnreached(tables, remaining, added), ...added]),
      );
    },
  };
}

/** Those of the former tips that the new ones do not reach. */
function findUnreached({ objects, graph }: Tables, former: readonly Oid[], added: readonly Oid[]): Oid[] {
  const positionsOf = (oids: readonly Oid[]): number[] =>
    Array.from(objects.lookupMany(concatOids(oids)).number, (number) => graph.position(number));
  const reached = graph.ancestors(positionsOf(added).filter((position) => position >= 0));
  const positions = positionsOf(former);
  return former.filter((_, i) => positions[i]! < 0 || !reached.has(positions[i]!));
}

function listOids(packed: Uint8Array): Oid[] {
  return Array.from({ length: packed.length / OID_BYTES }, (_, i) =>
    packed.subarray(i * OID_BYTES, (i + 1) * OID_BYTES),
  );
}
