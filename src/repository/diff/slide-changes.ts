import { isNoWorse, scoreGroup, type SplitScore } from "./indent-heuristic.ts";
import type { DiffSide } from "./line-classes.ts";

/** A group is tried at no more than this many places. */
const MAX_PLACES = 100;

/** Moves groups of changed lines of one side to where they read best, as far as equal lines at their ends let them
 * slide, and joins those that meet. A group that can stand beside a change of the other side does, at the last such
 * place; any other goes where the indent heuristic likes it, or else down as far as it can.
 * @param side whose groups slide
 * @param other is not changed: each line that neither side marks stands for one of the other */
export function slideChanges(side: DiffSide, other: DiffSide, indentHeuristic: boolean): void {
  const group = new ChangedGroup(side);
  const beside = new ChangedGroup(other);
  do {
    if (!group.isEmpty()) slideGroup(group, beside, indentHeuristic, side);
    beside.goNext();
  } while (group.goNext());
}

function slideGroup(group: ChangedGroup, beside: ChangedGroup, indentHeuristic: boolean, side: DiffSide): void {
  let length: number;
  let highestEnd: number;
  let lastEndBeside: number;
  // Sliding may join groups, and a longer one may slide further.
  do {
    length = group.end - group.start;
    while (group.slideUp()) beside.goPrevious();
    highestEnd = group.end;
    lastEndBeside = beside.isEmpty() ? -1 : group.end;
    while (group.slideDown()) {
      beside.goNext();
      if (!beside.isEmpty()) lastEndBeside = group.end;
    }
  } while (length !== group.end - group.start);

  if (group.end === highestEnd) return;
  let end = group.end;
  if (lastEndBeside !== -1) end = lastEndBeside;
  else if (indentHeuristic) end = bestEnd(side, highestEnd, group.end, length);
  while (group.end > end) {
    group.slideUp();
    beside.goPrevious();
  }
}

/** The end at which a group reads best, the lower one where two are equal. */
function bestEnd(side: DiffSide, highestEnd: number, lowestEnd: number, length: number): number {
  let best = -1;
  let bestScore: SplitScore | undefined;
  // Places further up than the group is long repeat the lines of those below.
  for (let end = Math.max(highestEnd, lowestEnd - length - 1, lowestEnd - MAX_PLACES); end <= lowestEnd; end++) {
    const score = scoreGroup(side.lines, end - length, end);
    if (bestScore !== undefined && !isNoWorse(score, bestScore)) continue;
    bestScore = score;
    best = end;
  }
  return best;
}

/** A run of changed lines between two lines that are not; an empty one lies between any two neighbours. So the n-th group
 * of a side stands beside the n-th of the other. */
class ChangedGroup {
  start = 0;
  end = 0;
  readonly #changed: Uint8Array;
  readonly #classes: Int32Array;

  constructor(side: DiffSide) {
    this.#changed = side.changed;
    this.#classes = side.classes;
    this.#reachDown();
  }

  isEmpty(): boolean {
    return this.start === this.end;
  }

  /** @returns whether there is a next group */
  goNext(): boolean {
    if (this.end === this.#classes.length) return false;
    this.start = this.end = this.end + 1;
    this.#reachDown();
    return true;
  }

  /** To the group before, which there must be. */
  goPrevious(): void {
    this.end = this.start = this.start - 1;
    this.#reachUp();
  }

  /** One line down, if the line below equals the group's first.
   * @returns whether it did */
  slideDown(): boolean {
    if (this.end === this.#classes.length || this.#classes[this.start] !== this.#classes[this.end]) return false;
    this.#changed[this.start++] = 0;
    this.#changed[this.end++] = 1;
    this.#reachDown();
    return true;
  }

  /** One line up, if the line above equals the group's last.
   * @returns whether it did */
  slideUp(): boolean {
    if (this.start === 0 || this.#classes[this.start - 1] !== this.#classes[this.end - 1]) return false;
    this.#changed[--this.start] = 1;
    this.#changed[--this.end] = 0;
    this.#reachUp();
    return true;
  }

  /** The entry behind the last line is never marked. */
  #reachDown(): void {
    while (this.#changed[this.end] === 1) this.end++;
  }

  #reachUp(): void {
    while (this.start > 0 && this.#changed[this.start - 1] === 1) this.start--;
  }
}
