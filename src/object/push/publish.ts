import { RefRules } from "../../base/access/ref-rules.ts";
import type { GitError } from "../../base/format/errors.ts";
import { equalOids, NULL_OID, type Oid, toHex } from "../../base/format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { PushRequest } from "../state/push.ts";
import { type RefCommand, findRefused, ALLOW_MISSING_LFS } from "../../contract/push.ts";
import { refusalError } from "../state/ref-refusal.ts";
import { packBytesOf } from "./push-steps.ts";
import { ReceivePack } from "./receive-pack.ts";
import { keepTree } from "../objects/tree-contents.ts";
import type { NewObject } from "./new-objects.ts";
import { encodeNewPack, packInMemory } from "./new-pack.ts";
import type { PushCost } from "../../contract/log-events.ts";
import { newChunkCounters } from "../../base/chunks/chunk-store.ts";
import { checksOf } from "./apply-push.ts";

/** A move of a ref. */
interface RefMove {
  /** Full name, pushable; byte string. */
  readonly name: string;
  /** The expected current value; null: absent. */
  readonly old: Oid | null;
  /** The new value; null: it is deleted. */
  readonly new: Oid | null;
}

/** Moves refs, and stores the new objects that they reach, as a push does: checked, logged, all or
 * nothing. Without objects, the refs have moved or not by the time the promise is returned, unless
 * the caller's right must be checked again.
 * @throws GitError "stale" when a ref is not as expected, "forbidden" when the rules for refs
 * protect it, "conflict" when it cannot be moved, and the errors that refuse the objects */
export async function publish(
  repository: OpenRepository,
  moves: readonly RefMove[],
  objects: readonly NewObject[],
  options: Pick<PushRequest, "head" | "merged"> = {},
): Promise<void> {
  const { codec } = repository.state.platform;
  const pack = objects.length === 0 ? null : encodeNewPack(codec, objects);
  await send(repository, moves, pack, { ...options, note: (cost) => repository.pushes.push(cost) });
  keepTrees(objects);
}

/** One step of a ref's move. */
export interface RefStep {
  /** Its author's view of the repository. */
  readonly repository: OpenRepository;
  readonly old: Oid | null;
  readonly new: Oid;
  /** The end of its entries in the pack (bytes). */
  readonly packEnd: number;
  /** The number of its own entries in the pack. */
  readonly objects: number;
}

/** Moves a ref by one or more steps, in one transaction. For the reflog, the rules for refs and the
 * cost log, each step is a change of its own.
 * @param objects of the pack
 * @throws GitError as `publish`; it does not say which step was refused */
export async function publishSteps(
  name: string,
  steps: readonly RefStep[],
  pack: Uint8Array,
  objects: readonly NewObject[],
): Promise<void> {
  const [{ repository, old }] = steps as [RefStep];
  const move = { name, old, new: steps.at(-1)!.new };
  const note = (cost: PushCost): void => {
    for (const [i, step] of steps.entries()) step.repository.pushes.push(shareOf(cost, steps, i));
  };
  const toStep = (step: RefStep) => ({
    ...toCommand({ ...step, name }),
    requester: step.repository.requester,
    packEnd: step.packEnd,
  });
  await send(repository, [move], pack, { ...(steps.length > 1 && { steps: steps.map(toStep) }), note });
  keepTrees(objects);
}

/** One step's part of a push's cost: its own bytes and objects, and its share of the rest. */
function shareOf(cost: PushCost, steps: readonly RefStep[], i: number): PushCost {
  if (steps.length === 1) return cost;
  const { objects } = steps[i]!;
  return {
    ...cost,
    packBytes: packBytesOf(steps, i),
    objects,
    indexMs: cost.indexMs / steps.length,
    applyMs: cost.applyMs / steps.length,
    together: steps.length,
    operations: i === 0 ? cost.operations : newChunkCounters(),
  };
}

async function send(
  repository: OpenRepository,
  moves: readonly RefMove[],
  pack: Uint8Array | null,
  options: Pick<PushRequest, "head" | "merged" | "steps" | "note">,
): Promise<void> {
  const push = new ReceivePack(repository.state, {
    commands: moves.map(toCommand),
    atomic: true,
    // A commit that is made here has no LFS client that could send them.
    pushOptions: [ALLOW_MISSING_LFS],
    shallow: [],
    pack: pack === null ? null : packInMemory(pack),
    agent: null,
    requester: repository.requester,
    ...options,
    progress: () => undefined,
  });
  const outcomes = await push.take();
  const refused = findRefused(outcomes);
  if (refused !== null) throw refusalError(refused.name, refused.refusal);
}

function keepTrees(objects: readonly NewObject[]): void {
  for (const { type, oid, content } of objects) if (type === "tree") keepTree(oid, content);
}

/** For a dry run: refuses a fast-forward of a branch that the rules for refs forbid.
 * @param name full, byte string
 * @param merged the commit that is merged or picked; null: none is
 * @throws GitError "forbidden" */
export function checkForwardMove({ tables, requester }: OpenRepository, name: string, merged: Oid | null): void {
  const rules = new RefRules(tables.refRules.all(), requester);
  const reason = rules.refuse({ name, kind: "move", isForward: () => true, ...checksOf(tables.statuses, merged) });
  if (reason !== null) throw refusalError(name, { kind: "forbidden", reason });
}

/** The error for a ref that is not as expected.
 * @param name byte string */
export function staleRef(name: string, expected: Oid | null, actual: Oid | null): GitError {
  const hex = (oid: Oid | null) => (oid === null ? null : toHex(oid));
  return refusalError(name, { kind: "stale", expected: hex(expected), actual: hex(actual) });
}

/** Whether two values of a ref are the same; null: absent. */
export function isSame(a: Oid | null, b: Oid | null): boolean {
  return a === null || b === null ? a === b : equalOids(a, b);
}

function toCommand(move: RefMove): RefCommand {
  return { name: move.name, old: move.old ?? NULL_OID, new: move.new ?? NULL_OID };
}
