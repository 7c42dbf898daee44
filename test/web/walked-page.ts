/** A page to visit. */
export interface WalkedPage {
  /** Says what is special about it. */
  readonly name: string;
  /** Path and query. `:head` stands for the id of the history's tip. */
  readonly path: string;
  /** Default: 200. */
  readonly status?: number;
  /** Something that it says. */
  readonly says: string | RegExp;
}
