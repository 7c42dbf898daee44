/** Records what clients were told about the refs. Looks for an order of their actions, within the
 * times at which each happened, that explains all answers. */

/** Refs and HEAD at one moment; null: there is no repository. */
export interface RefState {
  readonly refs: ReadonlyMap<string, string>;
  readonly head: string | null;
}

/** One ref of a push. */
export interface ModelCommand {
  readonly name: string;
  readonly old: string | null;
  readonly next: string | null;
}

/** A request and its answer. */
export type Deed =
  /** @param errors one for each command, null: there was no answer */
  | {
      readonly kind: "push";
      readonly commands: readonly ModelCommand[];
      readonly atomic: boolean;
      errors: readonly (string | null)[] | null;
      /** Objects may be missing: what is created may be refused for that. */
      mayMiss: boolean;
      /** Whether objects that a ref reaches may be lost by it. */
      readonly rewinds: boolean;
    }
  /** A change through the API. Without an answer, `moves` are all its possible results; otherwise
   * the actual one. */
  | {
      readonly kind: "change";
      readonly ref: string;
      readonly nonce: string;
      moves: readonly ModelCommand[];
      isKnown: boolean;
    }
  | { readonly kind: "look"; state: RefState | null | undefined }
  /** The deletion of the repository. */
  | { readonly kind: "delete"; isKnown: boolean };

/** An action, and the interval in which it may have happened. */
export interface Act {
  readonly who: string;
  readonly deed: Deed;
  readonly begin: number;
  end: number;
}

const DEFAULT_HEAD = "refs/heads/main";

/** States tried before the search gives up. */
const MOST_STATES = 300_000;

/** All actions of a run. */
export class RefModel {
  readonly acts: Act[] = [];
  #moments = 0;

  /** Records that an action begins. */
  begin(who: string, deed: Deed): Act {
    const act = { who, deed, begin: ++this.#moments, end: Infinity };
    this.acts.push(act);
    return act;
  }

  /** Records that it has ended, or that it never will. */
  end(act: Act): void {
    act.end = ++this.#moments;
  }

  /** The present. */
  get moment(): number {
    return this.#moments;
  }

  /** Whether refs may have moved backward between two moments, so that objects that they reached
   * may be gone. */
  isRewound(begin: number, end: number): boolean {
    return this.acts.some(
      ({ deed, ...act }) =>
        (deed.kind === "delete" || (deed.kind === "push" && deed.rewinds)) && act.begin <= end && act.end >= begin,
    );
  }

  /** Looks for an order that explains all answers.
   * @returns null when there is one, otherwise how far the longest attempt got */
  explain(): string | null {
    const acts = this.acts.filter(
      ({ end, deed }) => end !== Infinity && !(deed.kind === "look" && deed.state === undefined),
    );
    return new Ordering(acts).run();
  }
}

/** A depth-first search: what ended before another action began also happened before it. */
class Ordering {
  readonly #acts: readonly Act[];
  readonly #seen = new Set<string>();
  #furthest: { done: number; text: string } = { done: -1, text: "" };

  constructor(acts: readonly Act[]) {
    this.#acts = acts.toSorted((a, b) => a.begin - b.begin);
  }

  run(): string | null {
    const first: Step = { from: 0, done: new Set(), state: null };
    const stack: Step[] = [first];
    for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
      if (step.from === this.#acts.length) return null;
      if (this.#seen.size > MOST_STATES) return `undecided after ${MOST_STATES} states: ${this.#furthest.text}`;
      const next = this.#nextOf(step);
      for (let i = next.length - 1; i >= 0; i--) {
        const key = keyOf(next[i]!);
        if (this.#seen.has(key)) continue;
        this.#seen.add(key);
        stack.push(next[i]!);
      }
    }
    return this.#furthest.text;
  }

  #nextOf({ from, done, state }: Step): Step[] {
    const steps: Step[] = [];
    const stuck: Act[] = [];
    let firstEnd = Infinity;
    for (let i = from; i < this.#acts.length && this.#acts[i]!.begin < firstEnd; i++) {
      const act = this.#acts[i]!;
      if (done.has(i)) continue;
      firstEnd = Math.min(firstEnd, act.end);
      const after = perform(state, act.deed);
      if (after.length === 0) stuck.push(act);
      for (const next of after) {
        const nextDone = new Set(done).add(i);
        let nextFrom = from;
        while (nextDone.delete(nextFrom)) nextFrom++;
        steps.push({ from: nextFrom, done: nextDone, state: next });
      }
    }
    const count = from + done.size;
    if (count > this.#furthest.done) {
      const acts = stuck.map(({ who, deed, begin, end }) => `  ${who} ${begin}-${end} ${show(deed)}`);
      this.#furthest = { done: count, text: `no order explains, at ${show(state)}:\n${acts.join("\n")}` };
    }
    return steps;
  }
}

interface Step {
  /** All actions before it are done, */
  readonly from: number;
  /** and these. */
  readonly done: ReadonlySet<number>;
  readonly state: RefState | null;
}

function keyOf({ from, done, state }: Step): string {
  const refs =
    state === null
      ? "none"
      : [...state.refs]
          .map(([name, oid]) => `${name}=${oid}`)
          .toSorted()
          .join();
  return `${from} ${[...done].toSorted((a, b) => a - b).join()} ${state?.head} ${refs}`;
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (inner instanceof Map ? Object.fromEntries(inner) : inner));
}

/** The possible results; none: it cannot have happened in this state. */
function perform(state: RefState | null, deed: Deed): (RefState | null)[] {
  switch (deed.kind) {
    case "look":
      return isSame(state, deed.state!) ? [state] : [];
    case "delete":
      return deed.isKnown ? [null] : [state, null];
    case "change":
      return change(state, deed);
    case "push":
      return push(state, deed);
  }
}

function change(state: RefState | null, { moves, isKnown }: Extract<Deed, { kind: "change" }>): (RefState | null)[] {
  const after = moves.flatMap((move) => {
    const { next, errors } = settle(state ?? EMPTY, [move], false);
    return errors[0] === null ? [next] : [];
  });
  return isKnown ? after : [state, ...after];
}

const EMPTY: RefState = { refs: new Map(), head: null };

function push(state: RefState | null, deed: Extract<Deed, { kind: "push" }>): (RefState | null)[] {
  const { commands, atomic, errors, mayMiss } = deed;
  const plain = settle(state ?? EMPTY, commands, atomic);
  const isNothing = plain.errors.every((error) => error !== null);
  if (errors === null) {
    const after = [state, isNothing ? state : plain.next];
    if (mayMiss) after.push(settle(state ?? EMPTY, commands, atomic, () => true).next);
    return after;
  }
  const isMissing = (i: number): boolean => errors[i]?.startsWith("missing necessary objects") === true;
  if (errors.some((error) => error === "unpacker error")) return mayMiss ? [state] : [];
  if (errors.some((_, i) => isMissing(i)) && !mayMiss) return [];
  const expected = settle(state ?? EMPTY, commands, atomic, isMissing);
  const isExplained = errors.every((error, i) => isLike(error, expected.errors[i]!));
  if (!isExplained) return [];
  return [errors.every((error) => error !== null) ? state : expected.next];
}

/** Whether an answer is the expected one; names and ids in it may differ. */
function isLike(told: string | null, expected: string | null): boolean {
  if (told === null || expected === null) return told === expected;
  return told.startsWith(expected);
}

/** What a push does to the refs if its objects exist. */
function settle(
  { refs, head }: RefState,
  commands: readonly ModelCommand[],
  atomic: boolean,
  isMissing: (i: number) => boolean = () => false,
): { next: RefState; errors: (string | null)[] } {
  const now = new Map(refs);
  const errors = commands.map(({ name, old, next }, i) => {
    if (next === null && head === name && now.has(name)) return "deletion of the current branch prohibited";
    if (next !== null && isMissing(i)) return "missing necessary objects";
    if ((now.get(name) ?? null) !== old) return "is at";
    if (next === null) now.delete(name);
    else if (old === null && [...now.keys()].some((other) => isInTheWay(other, name))) return "conflicts with";
    else now.set(name, next);
    return null;
  });
  const isRefused = errors.every((error) => error !== null) || (atomic && errors.some((error) => error !== null));
  if (isRefused) {
    return { next: { refs, head }, errors: atomic ? errors.map((error) => error ?? "atomic push failure") : errors };
  }
  return { next: { refs: now, head: chooseHead(now, head, commands, errors) }, errors };
}

/** The first branch pushed becomes HEAD, preferably main or master; an existing HEAD stays. */
function chooseHead(
  refs: ReadonlyMap<string, string>,
  head: string | null,
  commands: readonly ModelCommand[],
  errors: readonly (string | null)[],
): string | null {
  if (head !== null && (head !== DEFAULT_HEAD || refs.has(head))) return head;
  const branches = commands
    .filter(({ name }, i) => errors[i] === null && name.startsWith("refs/heads/") && refs.has(name))
    .map(({ name }) => name);
  return branches.includes(DEFAULT_HEAD) ? DEFAULT_HEAD : (branches[0] ?? head);
}

function isInTheWay(a: string, b: string): boolean {
  return a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

function isSame(a: RefState | null, b: RefState | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.head === b.head && a.refs.size === b.refs.size && [...a.refs].every(([name, oid]) => b.refs.get(name) === oid)
  );
}
