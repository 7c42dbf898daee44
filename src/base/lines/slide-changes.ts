import { isNoWorse, scoreGroup, type SplitScore } from "./indent-heuristic.ts";
import type { DiffSide } from "./line-classes.ts";

/** Limit of the places at which a group is tried. */
const MAX_PLACES = 100;

/** Slides groups of changed lines of one side to the place that reads best, as far as equal lines
 * at their ends allow, and joins groups that meet. A group that can be beside a change of the
 * other side goes to the last such place. Any other goes to the place that the indent heuristic
 * prefers, or else down as far as possible.
 * @param side side whose groups slide
 * @param other is not changed; each unmarked line has its counterpart on the other side */
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
  // Sliding may join groups, and a longer group may slide further.
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

/** Finds the end at which a group reads best; on a tie the lower one. */
function bestEnd(side: DiffSide, highestEnd: number, lowestEnd: number, length: number): number {
  let best = -1;
  let bestScore: SplitScore | undefined;
  // Goes up at most by the group's own length: further up, the group only repeats the lines below.
  for (let end = Math.max(highestEnd, lowestEnd - length - 1, lowestEnd - MAX_PLACES); end <= lowestEnd; end++) {
    const score = scoreGroup(side.lines, end - length, end);
    if (bestScore !== undefined && !isNoWorse(score, bestScore)) continue;
    bestScore = score;
    best = end;
  }
  return best;
}

/** A run of changed lines between two unchanged lines. It is empty between unchanged neighbours, so
 * the n-th group of a side is beside the n-th group of the other. */
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

  /** Moves to the next group.
   * @returns whether there is one */
  goNext(): boolean {
    if (this.end === this.#classes.length) return false;
    this.start = this.end = this.end + 1;
    this.#reachDown();
    return true;
  }

  /** Moves to the previous group, which must exist. */
  goPrevious(): void {
    this.end = this.start = this.start - 1;
    this.#reachUp();
  }

  /** Slides one line down, if the line below equals the group's first.
   * @returns whether it did */
  slideDown(): boolean {
    if (this.end === this.#classes.length || this.#classes[this.start] !== this.#classes[this.end]) return false;
    this.#changed[this.start++] = 0;
    this.#changed[this.end++] = 1;
    this.#reachDown();
    return true;
  }

  /** Slides one line up, if the line above equals the group's last.
   * @returns whether it did */
  slideUp(): boolean {
    if (this.start === 0 || this.#classes[this.start - 1] !== this.#classes[this.end - 1]) return false;
    this.#changed[--this.start] = 1;
    this.#changed[--this.end] = 0;
    this.#reachUp();
    return true;
  }

  /** Needs no check of the end: the entry after the last line is never marked. */
  #reachDown(): void {
    while (this.#changed[this.end] === 1) this.end++;
  }

  #reachUp(): void {
    while (this.start > 0 && this.#changed[this.start - 1] === 1) this.start--;
  }
}
