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

/** How much of a commit or tag is told. */
export interface RecordBounds {
  readonly messageBytes: number;
  /** Of a name, and of an email. */
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

/** What one list may read and tell of commits and tags, so that neither its work nor its answer
 * grows with what they hold. */
export class ListBudget {
  #readBytes: number;
  #textBytes = MAX_LIST_TEXT_BYTES;
  #isRefused = false;

  constructor(readBytes = MAX_LIST_READ_BYTES) {
    this.#readBytes = readBytes;
  }

  /** Whether a list that can go on elsewhere should end here. */
  get isSpent(): boolean {
    return this.#textBytes <= 0 || this.#isRefused;
  }

  /** How much of the next one is told. */
  get bounds(): RecordBounds {
    return this.#textBytes <= 0 ? BRIEF : LISTED;
  }

  /** Whether so many bytes may be read beyond the heads. */
  takeRead(bytes: number): boolean {
    if (bytes > this.#readBytes) return !(this.#isRefused = true);
    this.#readBytes -= bytes;
    return true;
  }

  /** Counts what was told. */
  noteText(characters: number): void {
    this.#textBytes -= characters;
  }
}
