/** What refs may be at, by what was asked and what was acknowledged: every view of them must be
 * one that they had at some moment while it was taken.
 *
 * A value is a ref's from when the move to it began, at the earliest, to when a move from it was
 * acknowledged, at the latest. Whoever looks at refs must see values that were all there at one
 * moment of the looking. This is less than an order of all that was done, which the simulation
 * of `test/repository` looks for (`RefModel`), and is found at once however much goes on; it
 * tells which ref is wrong. */

/** A move of a ref. */
export interface Move {
  readonly ref: string;
  /** What it was at, null: nothing; undefined: that is learnt from the answer. */
  old: string | null | undefined;
  next: string | null | undefined;
  readonly begin: number;
  end: number;
  /** `open`: nobody was told what became of it. */
  outcome: "open" | "acknowledged" | "refused";
}

/** Refs as somebody saw them. */
interface Look {
  readonly what: string;
  readonly refs: ReadonlyMap<string, string>;
  /** The only ref that was looked at, null: all of them. */
  readonly only: string | null;
  readonly begin: number;
  readonly end: number;
}

type Window = readonly [begin: number, end: number];

/** The refs of one repository. */
export class AcknowledgedRefs {
  readonly #moves = new Map<string, Move[]>();
  #looks: Look[] = [];
  #moments = 0;

  /** A moment of its own, later than all before. */
  now(): number {
    return ++this.#moments;
  }

  /** Notes that a ref begins to be moved. */
  begin(ref: string, old: Move["old"], next: Move["next"]): Move {
    const move: Move = { ref, old, next, begin: this.now(), end: Infinity, outcome: "open" };
    const moves = this.#moves.get(ref);
    if (moves === undefined) this.#moves.set(ref, [move]);
    else moves.push(move);
    return move;
  }

  /** Notes what the client was told of it. */
  end(move: Move, outcome: "acknowledged" | "refused"): void {
    move.end = this.now();
    move.outcome = outcome;
  }

  /** Notes what somebody saw who began to look at a moment, and has it now.
   * @param only the one ref that was looked at, if it was one */
  look(what: string, begin: number, refs: ReadonlyMap<string, string>, only: string | null = null): void {
    this.#looks.push({ what, begin, refs, only, end: this.now() });
  }

  /** Whether a ref may have been deleted or moved back since a moment. @param isBack tells of a
   * move whether it was */
  isRewound(since: number, isBack: (move: Move) => boolean): boolean {
    return this.#moves.values().some((moves) => moves.some((move) => move.end >= since && isBack(move)));
  }

  /** Explains all looks since the last time, when nobody moves a ref: only then is known what
   * every move came to.
   * @returns what is wrong, a line each */
  explainLooks(): string[] {
    const looks = this.#looks;
    this.#looks = [];
    return looks.flatMap((look) => {
      const problem = this.#explain(look);
      return problem === null ? [] : [`${look.what}: ${problem}`];
    });
  }

  /** What refs must be at when nobody moves any, one line each that contradicts it.
   * @returns also refs of which two moves from one value were acknowledged: one of them is lost */
  compare(refs: ReadonlyMap<string, string>): string[] {
    const names = new Set([...this.#moves.keys(), ...refs.keys()]);
    return [...names].flatMap((name) => {
      const values = this.#lastValues(name);
      const actual = refs.get(name) ?? null;
      const lost = values.filter((value) => value !== actual);
      const isOpen = this.#moves.get(name)?.some(({ outcome }) => outcome === "open") === true;
      if (isOpen || (values.length === 1 && lost.length === 0)) return [];
      return [`${name} is at ${show(actual)}, and ${values.map(show).join(" and ")} was acknowledged last`];
    });
  }

  /** Values that were moved to and, as far as anybody was told, never from: one, if moves were
   * made one after the other. */
  #lastValues(ref: string): (string | null)[] {
    const counts = new Map<string | null, number>([[null, 1]]);
    const add = (value: string | null, count: number): void => void counts.set(value, (counts.get(value) ?? 0) + count);
    for (const { old, next, outcome } of this.#moves.get(ref) ?? []) {
      if (outcome !== "acknowledged") continue;
      add(old!, -1);
      add(next!, 1);
    }
    return [...counts].filter(([, count]) => count > 0).map(([value]) => value);
  }

  #explain(look: Look): string | null {
    const names = look.only === null ? [...new Set([...this.#moves.keys(), ...look.refs.keys()])] : [look.only];
    const seen = names.map((name) => {
      const value = look.refs.get(name) ?? null;
      const windows = this.#windowsOf(name, value).filter(([begin, end]) => begin <= look.end && end >= look.begin);
      return { name, value, windows };
    });
    const never = seen.filter(({ windows }) => windows.length === 0);
    if (never.length > 0) return never.map(({ name, value }) => this.#tell(name, value, look)).join("; ");
    const moments = [
      look.begin,
      ...seen.flatMap(({ windows }) => windows.map(([begin]) => Math.max(begin, look.begin))),
    ];
    const isOneState = moments.some((moment) =>
      seen.every(({ windows }) => windows.some(([begin, end]) => begin <= moment && moment <= end)),
    );
    if (isOneState) return null;
    return `these were never all there at once: ${seen.map(({ name, value }) => `${name} ${show(value)}`).join(", ")}`;
  }

  /** When a ref may have been at a value. */
  #windowsOf(ref: string, value: string | null): Window[] {
    const moves = this.#moves.get(ref) ?? [];
    const endOf = (begin: number): number =>
      Math.min(
        ...moves
          .filter((move) => move.outcome === "acknowledged" && move.old === value && move.begin > begin)
          .map(({ end }) => end),
        Infinity,
      );
    const first: Window[] = value === null ? [[0, endOf(0)]] : [];
    const later = moves.flatMap(({ next, outcome, begin }): Window[] => {
      // What an answer that never came would have told may be anything.
      const isIt = next === value || (outcome === "open" && next === undefined);
      return isIt && outcome !== "refused" ? [[begin, endOf(begin)]] : [];
    });
    return [...first, ...later];
  }

  #tell(ref: string, value: string | null, { begin, end }: Look): string {
    const moves = (this.#moves.get(ref) ?? [])
      .filter((move) => move.begin <= end && move.outcome !== "refused")
      .slice(-3)
      .map((move) => `${show(move.old)} to ${show(move.next)} ${move.outcome} ${move.begin}-${move.end}`);
    const known = moves.length === 0 ? "it was never moved" : `it was moved from ${moves.join(", from ")}`;
    return `${ref} is at ${show(value)} at ${begin}-${end}, but ${known}`;
  }
}

function show(value: string | null | undefined): string {
  return value === null ? "nothing" : (value ?? "something");
}
