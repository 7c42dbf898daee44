import {
  MAX_BRIEF_MESSAGE_BYTES,
  MAX_BRIEF_NAME_BYTES,
  MAX_BRIEF_PARENTS,
  MAX_LIST_READ_BYTES,
  MAX_LIST_TEXT_BYTES,
  MAX_LISTED_MESSAGE_BYTES,
  MAX_LISTED_NAME_BYTES,
  MAX_LISTED_PARENTS,
} from "../../base/format/shown-limits.ts";

/** Bounds for showing a commit or tag. */
export interface RecordBounds {
  readonly messageBytes: number;
  /** Bytes of a name, and of an email. */
  readonly nameBytes: number;
  readonly parents: number;
}

const LISTED: RecordBounds = {
  messageBytes: MAX_LISTED_MESSAGE_BYTES,
  nameBytes: MAX_LISTED_NAME_BYTES,
  parents: MAX_LISTED_PARENTS,
};

const BRIEF: RecordBounds = {
  messageBytes: MAX_BRIEF_MESSAGE_BYTES,
  nameBytes: MAX_BRIEF_NAME_BYTES,
  parents: MAX_BRIEF_PARENTS,
};

/** The budget of one list for reading and showing commits and tags, so that neither its work nor
 * its answer grows with their contents. */
export class ListBudget {
  #readBytes: number;
  #textBytes = MAX_LIST_TEXT_BYTES;
  #isRefused = false;

  constructor(readBytes = MAX_LIST_READ_BYTES) {
    this.#readBytes = readBytes;
  }

  /** Whether a list that can be continued should end here. */
  get isSpent(): boolean {
    return this.#textBytes <= 0 || this.#isRefused;
  }

  /** Bounds for the next commit or tag. */
  get bounds(): RecordBounds {
    return this.#textBytes <= 0 ? BRIEF : LISTED;
  }

  /** Takes bytes for reading beyond the heads, if the budget allows. */
  takeRead(bytes: number): boolean {
    if (bytes > this.#readBytes) return !(this.#isRefused = true);
    this.#readBytes -= bytes;
    return true;
  }

  /** Counts shown text. */
  noteText(characters: number): void {
    this.#textBytes -= characters;
  }
}
