/** The possible values of refs, derived from requested and acknowledged moves. Every view of the
 * refs must be one that existed at some moment while it was read.
 *
 * A ref has a value at the earliest from the start of the move to it, at the latest until a move
 * from it is acknowledged. All values of one view must be possible at one moment. This is weaker
 * than an order of all operations, which the simulation of `test/repository` looks for
 * (`RefModel`), but it is fast under any load and names the wrong ref. */

/** A move of a ref. */
export interface Move {
  readonly ref: string;
  /** The old value; null: none; undefined: the answer will say it. */
  old: string | null | undefined;
  next: string | null | undefined;
  readonly begin: number;
  end: number;
  /** `open`: the client got no answer. */
  outcome: "open" | "acknowledged" | "refused";
}

/** A view of the refs. */
interface Look {
  readonly what: string;
  readonly refs: ReadonlyMap<string, string>;
  /** The only ref that was read; null: all of them. */
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

  /** A unique moment, later than all before. */
  now(): number {
    return ++this.#moments;
  }

  /** Records that a move begins. */
  begin(ref: string, old: Move["old"], next: Move["next"]): Move {
    const move: Move = { ref, old, next, begin: this.now(), end: Infinity, outcome: "open" };
    const moves = this.#moves.get(ref);
    if (moves === undefined) this.#moves.set(ref, [move]);
    else moves.push(move);
    return move;
  }

  /** Records the client's answer. */
  end(move: Move, outcome: "acknowledged" | "refused"): void {
    move.end = this.now();
    move.outcome = outcome;
  }

  /** Records a view that a client began to read at `begin` and has completed now.
   * @param only the ref that was read, if only one was */
  look(what: string, begin: number, refs: ReadonlyMap<string, string>, only: string | null = null): void {
    this.#looks.push({ what, begin, refs, only, end: this.now() });
  }

  /** Whether a ref may have been deleted or moved back since a moment.
   * @param isBack says whether a move goes back */
  isRewound(since: number, isBack: (move: Move) => boolean): boolean {
    return this.#moves.values().some((moves) => moves.some((move) => move.end >= since && isBack(move)));
  }

  /** Explains all views since the last call. No ref must be moving: only then is every move's
   * outcome known.
   * @returns what is wrong, a line each */
  explainLooks(): string[] {
    const looks = this.#looks;
    this.#looks = [];
    return looks.flatMap((look) => {
      const problem = this.#explain(look);
      return problem === null ? [] : [`${look.what}: ${problem}`];
    });
  }

  /** Compares refs with what they must be when none is moving.
   * @returns one line for each contradiction, including refs with two acknowledged moves from one
   * value: one of them is lost */
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

  /** Values that a ref was moved to and, as far as is known, never from: one, if moves were made
   * one after the other. */
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

  /** When a ref may have had a value. */
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
      // An answer that never arrived may have said any value.
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
