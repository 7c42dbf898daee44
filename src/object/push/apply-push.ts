import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { type RefChange, RefRules } from "../../base/access/ref-rules.ts";
import { nameOf, type Requester } from "../../base/access/caller.ts";
import { encodeText } from "../../base/format/byte-string.ts";
import { type Oid, toHex, equalOids, isNullOid } from "../../base/format/oid.ts";
import { NODE_SPECIAL_MASK } from "../../base/codec/pack-index.ts";
import { GitError } from "../../base/format/errors.ts";
import type { StatusTable } from "../store/events/status-table.ts";
import type { Limits } from "../../base/format/configured-limits.ts";
import { checkLimit, MAX_ANCESTRY_STEPS } from "../../base/format/limits.ts";
import { COMMIT, TAG } from "../../base/format/object.ts";
import { DEFAULT_BRANCH } from "../../base/format/ref-name.ts";
import { NumberSet, finishAtOnce } from "../../base/numbers/number-set.ts";
import type { NewPush, PushedRef } from "../store/refs/push-log.ts";
import type { RefChanges } from "../store/refs/ref-changes.ts";
import { REF_ROW_BYTES } from "../store/refs/refs.ts";
import type { Tables } from "../store/tables.ts";
import type { RefCommand, RefOutcome, RefRefusal } from "../../contract/push.ts";
import type { UploadFrame } from "../state/push.ts";
import { refuseWhole } from "../state/ref-refusal.ts";
import type { DeniedRefs } from "./ask-policy.ts";
import { type PreparedPush, preparePush, type PushContents } from "./prepare-push.ts";
import { enterPointers } from "./pushed-pointers.ts";
import type { Target } from "./push-graph.ts";
import { listSteps, refuseSteps } from "./push-steps.ts";
import type { ReturnedTrees } from "./returned-trees.ts";
import { TagPeeling } from "../objects/tag-peeling.ts";

/** A push whose pack, if any, is indexed and stored. */
export interface PushToApply extends PushContents {
  readonly atomic: boolean;
  /** Whether the client's repository is shallow. */
  readonly isShallow: boolean;
  readonly packBytes: number;
  /** Null: it belongs to no upload session. */
  readonly upload: Pick<UploadFrame, "isStep" | "brought"> | null;
  readonly timeMs: number;
  readonly requester: Pick<Requester, "caller" | "right">;
  readonly limits: Pick<Limits, "maxRefBytes" | "maxReflogBytes">;
  /** Refuses an addition beyond the quota, by bytes as stored and objects.
   * @throws GitError "too-large" */
  checkQuota(addedBytes: number, addedObjects: number): void;
  /** What the deployment's policy denies. */
  readonly denied: DeniedRefs;
  /** HEAD's new target; null: it stays. */
  readonly head: string | null;
  /** The commit that is merged or picked; null: none is. */
  readonly merged: Oid | null;
}

/** The result of applying a push. */
export type ApplyOutcome =
  /** Refs moved, and their objects are stored. */
  | { readonly kind: "applied"; readonly outcomes: RefOutcome[]; readonly unusedKeys: string[] }
  /** Nothing moved: the transaction must be rolled back. */
  | { readonly kind: "refused"; readonly outcomes: RefOutcome[] }
  /** These stored trees must be read first, and the transaction rolled back. */
  | { readonly kind: "unread"; readonly trees: readonly ObjectNumber[] };

/** Makes a push visible: rows, graph and refs, in the caller's transaction and synchronously, so
 * that nothing comes between the checks and the writes. The graph in memory stays unchanged unless
 * the outcome is "applied".
 * @param returned stored trees that have been read
 * @param prepared from `preparePush` with a copy of the graph, since when nothing was written;
 * null: it is prepared now */
export function applyPush(
  tables: Tables,
  push: PushToApply,
  returned: ReturnedTrees,
  prepared: PreparedPush | null = null,
): ApplyOutcome {
  return new PushApplication(tables, push, returned).run(prepared);
}

/** Finds the stored trees that must be read before a push can be applied, as far as those already
 * read reach. Needs no transaction: nothing is written, and the graph in memory stays unchanged.
 * @throws GitError as `applyPush` */
export function findUnread(tables: Tables, push: PushToApply, returned: ReturnedTrees): readonly ObjectNumber[] {
  const { graph } = tables;
  const before = graph.length;
  try {
    const prepared = finishAtOnce(preparePush(tables, graph, push, returned, false));
    return "unread" in prepared ? prepared.unread : [];
  } finally {
    graph.truncate(before);
  }
}

class PushApplication {
  readonly #tables: Tables;
  readonly #push: PushToApply;
  readonly #returned: ReturnedTrees;
  readonly #rules: RefRules;
  readonly #moved: PushedRef[] = [];
  /** For the graph with the push's nodes in it. */
  #peeling: TagPeeling | null = null;
  #ancestrySteps = 0;

  constructor(tables: Tables, push: PushToApply, returned: ReturnedTrees) {
    this.#tables = tables;
    this.#push = push;
    this.#returned = returned;
    this.#rules = new RefRules(tables.refRules.all(), push.requester);
  }

  run(early: PreparedPush | null): ApplyOutcome {
    const { graph, pushes } = this.#tables;
    const before = graph.length;
    let isResolved = false;
    try {
      const prepared = early ?? finishAtOnce(preparePush(this.#tables, graph, this.#push, this.#returned, false));
      if ("unread" in prepared) return { kind: "unread", trees: prepared.unread };
      if (early !== null) graph.adopt(early.graph);
      const outcomes = this.#updateRefs(prepared.targets);
      const refused = refuseWhole(outcomes, this.#push.atomic);
      if (refused !== null) return { kind: "refused", outcomes: refused };
      const refBytes = this.#checkRefs();
      pushes.appendAll(this.#listPushes(), this.#push.limits.maxReflogBytes);
      this.#write(prepared, refBytes);
      this.#chooseHead(outcomes);
      isResolved = true;
      return { kind: "applied", outcomes, unusedKeys: prepared.rows.unusedKeys };
    } finally {
      if (!isResolved) graph.truncate(before);
    }
  }

  /** The entries for the reflog. */
  #listPushes(): NewPush[] {
    const { requester, timeMs, pushed, steps, upload } = this.#push;
    if (steps !== null) return listSteps(this.#push.commands[0]!.name, steps, pushed, timeMs);
    // The bytes of a step count when its session ends: until then no clone gets them.
    const packBytes = upload?.isStep === true ? 0 : this.#push.packBytes + (upload?.brought.packBytes ?? 0);
    const objects = pushed.freshCount + (upload?.brought.objects ?? 0);
    return [{ timeMs, who: nameOf(requester.caller), refs: this.#moved, packBytes, objects }];
  }

  #updateRefs(targets: readonly (Target | null)[]): RefOutcome[] {
    if (this.#push.upload?.isStep === true) {
      return this.#push.commands.map(({ name }, i) => ({
        name,
        refusal: targets[i] === null ? this.#missing() : null,
      }));
    }
    // First, because the branch that HEAD names now may be one to be deleted.
    const { refs } = this.#tables;
    if (this.#push.head !== null) refs.setHead(this.#push.head);
    const head = refs.head();
    const changes = refs.change(this.#push.commands.map(({ name }) => name));
    const outcomes = this.#push.commands.map((command, i): RefOutcome => {
      const reason = this.#forbid(changes, command, targets[i]!);
      const refusal =
        reason === null ? this.#updateRef(changes, command, targets[i]!, head) : { kind: "forbidden" as const, reason };
      return { name: command.name, refusal };
    });
    changes.write();
    return outcomes;
  }

  /** @returns why the policy or the rules for refs forbid the change; null: they do not, or the ref
   * is not at its expected value */
  #forbid(changes: RefChanges, command: RefCommand, target: Target | null): string | null {
    // A ref with a missing target cannot move, whatever the rules say.
    const { steps, denied, merged } = this.#push;
    if ((this.#rules.isEmpty && steps === null && denied.size === 0) || (target === null && !isNullOid(command.new)))
      return null;
    const actual = changes.get(command.name);
    if (actual === null ? !isNullOid(command.old) : !equalOids(actual, command.old)) return null;
    const reason = denied.get(command.name);
    if (reason !== undefined) return reason;
    if (steps !== null) return refuseSteps(this.#tables.refRules.all(), command.name, steps);
    const isForward = (): boolean => actual !== null && target !== null && this.#reaches(actual, target);
    return this.#rules.refuse({ ...changeOf(command, isForward), ...checksOf(this.#tables.statuses, merged) });
  }

  /** Whether an object is a descendant of another, or the same.
   * @throws GitError "too-large" when the comparisons have cost too much */
  #reaches(ancestor: Oid, { number }: Target): boolean {
    const { graph, objects } = this.#tables;
    const from = graph.position(objects.find(ancestor)!.number);
    const to = graph.position(number);
    if (from < 0 || to < 0) return false;
    this.#ancestrySteps += Math.max(0, to - from);
    checkLimit(
      "the distance from the old values of refs to the new ones (commits)",
      MAX_ANCESTRY_STEPS,
      this.#ancestrySteps,
    );
    return graph.isAncestor(from, to);
  }

  /** @param head HEAD's target
   * @returns why the ref did not move, null when it did */
  #updateRef(changes: RefChanges, command: RefCommand, target: Target | null, head: string | null): RefRefusal | null {
    const { name } = command;
    const isDeletion = isNullOid(command.new);
    if (isDeletion && head === name && changes.get(name) !== null) return { kind: "current-branch" };
    if (!isDeletion && target === null) return this.#missing();
    if (target !== null && !isDeletion && name.startsWith("refs/heads/") && target.type !== COMMIT) {
      return { kind: "not-a-commit" };
    }
    const expected = isNullOid(command.old) ? null : command.old;
    const oid = isDeletion ? null : command.new;
    const outcome = changes.compareAndSwap(name, expected, oid, isDeletion ? null : this.#peel(target!));
    switch (outcome.kind) {
      case "stale":
        return { kind: "stale", expected: hexOf(expected), actual: hexOf(outcome.actual) };
      case "conflict":
        return outcome;
      case "ok":
        this.#moved.push([name, hexOf(expected), hexOf(oid)]);
        return null;
    }
  }

  #missing(): RefRefusal {
    const { pushed, isShallow } = this.#push;
    return { kind: "missing", oid: pushed.missing?.oid ?? null, isShallow };
  }

  /** The final target of an annotated tag; null for any other object. */
  #peel(target: Target): Oid | null {
    if (target.type !== TAG) return null;
    const { graph, objects } = this.#tables;
    this.#peeling ??= new TagPeeling(graph);
    const end = this.#peeling.endOf(graph.position(target.number));
    // If the chain ends at a tag, its target is a tree or blob, which is the tag's tree.
    const number = this.#typeOf(graph.number(end)) === TAG ? graph.tree(end) : graph.number(end);
    return this.#push.pushed.freshOid(number) ?? objects.locate(NumberSet.of(number)).oid;
  }

  #typeOf(number: ObjectNumber): number {
    return this.#push.pushed.freshType(number) ?? this.#tables.objects.locate(NumberSet.of(number)).type[0]!;
  }

  /** Refuses more refs than a repository may have. A push that reduces them is allowed, however
   * many remain.
   * @returns by how many bytes they grow; 0: they do not
   * @throws GitError "too-large" */
  #checkRefs(): number {
    const bytesOf = (at: 1 | 2): number =>
      this.#moved.reduce((sum, moved) => sum + (moved[at] === null ? moved[0].length + REF_ROW_BYTES : 0), 0);
    const addedBytes = bytesOf(1) - bytesOf(2);
    if (addedBytes <= 0) return 0;
    const actual = this.#tables.refs.sizeBytes();
    const { maxRefBytes: limit } = this.#push.limits;
    if (actual > limit) {
      const what = `the repository's refs with this push (bytes of their names, and ${REF_ROW_BYTES} for each)`;
      throw new GitError("too-large", {
        what,
        limit,
        actual,
        reason: "delete refs that nobody needs, or give them shorter names",
      });
    }
    return addedBytes;
  }

  /** Writes the rows.
   * @param refBytes by which the refs grow */
  #write({ introductions, rows, index, nodes, before }: PreparedPush, refBytes: number): void {
    const { objects, chunks, reachability, vetted } = this.#tables;
    const { introduced, adopted, reintroduced } = introductions;
    const { pushed } = this.#push;
    const addedBytes = rows.chunks.reduce((sum, { size }) => sum + size, refBytes);
    this.#push.checkQuota(addedBytes, pushed.freshCount);
    chunks.insert(rows.chunks);
    if (index !== null) objects.insertPrepared(index);
    if (nodes === null) this.#tables.writeNodes(before, introduced);
    else this.#tables.writePreparedNodes(nodes);
    objects.setIntroducers(new Map(adopted.map(({ object, introducer }) => [object, introducer])));
    reachability.reintroduce(reintroduced);
    enterPointers(this.#tables.lfs, pushed);
    for (const packNode of pushed.checked) {
      const number = pushed.index.number(packNode);
      if (number !== 0) vetted.add(number, pushed.index.flags(packNode) & NODE_SPECIAL_MASK);
    }
  }

  /** The first pushed branch becomes HEAD, preferably main or master, unless another was chosen.
   * HEAD never moves by itself later. */
  #chooseHead(outcomes: readonly RefOutcome[]): void {
    const { refs } = this.#tables;
    const head = refs.head();
    const isChosen = head !== null && (head !== `refs/heads/${DEFAULT_BRANCH}` || refs.get(head) !== null);
    if (isChosen) return;
    const branches = outcomes
      .filter(({ name, refusal }) => refusal === null && name.startsWith("refs/heads/") && refs.get(name) !== null)
      .map(({ name }) => name);
    const preferred = ["refs/heads/main", "refs/heads/master"].find((name) => branches.includes(name)) ?? branches[0];
    if (preferred !== undefined) refs.setHead(preferred);
  }
}

/** A command in the form in which the rules for refs judge it. @see RefRules */
export function changeOf(command: RefCommand, isForward: RefChange["isForward"]): RefChange {
  const kind = isNullOid(command.new) ? "deletion" : isNullOid(command.old) ? "creation" : "move";
  return { name: command.name, kind, isForward };
}

function hexOf(oid: Oid | null): string | null {
  return oid === null ? null : toHex(oid);
}

/** Hex digits of the commit's id that are told. */
const SHOWN_HEX = 12;

/** What the rules for refs ask of a change that merges a commit.
 * @param merged null: it merges none, and no check is required */
export function checksOf(statuses: StatusTable, merged: Oid | null): Pick<RefChange, "findUnmet"> {
  return merged === null ? {} : { findUnmet: (contexts) => describeUnmet(statuses, merged, contexts) };
}

function describeUnmet(statuses: StatusTable, commit: Oid, contexts: readonly string[]): string | null {
  const states = new Map(statuses.of(commit).map(({ context, state }) => [context, state]));
  const unmet = contexts.filter((context) => states.get(context) !== "success");
  if (unmet.length === 0) return null;
  const listed = unmet.map((context) => `${context} (${states.get(context) ?? "not set"})`).join(", ");
  return encodeText(`${listed} for ${toHex(commit).slice(0, SHOWN_HEX)}`);
}
