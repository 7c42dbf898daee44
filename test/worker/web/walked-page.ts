/** A page to visit. */
export interface WalkedPage {
  /** Says what is special about it. */
  readonly name: string;
  /** Whether it is asked of a server that wants a token, without one. Default: of one where access
   * is open. */
  readonly isLocked?: boolean;
  /** Path and query. `:head` stands for the id of the history's tip. */
  readonly path: string;
  /** Default: 200. */
  readonly status?: number;
  /** Something that it says. */
  readonly says: string | RegExp;
}
