/** Where a repository is now, after a request by a former name. */
export interface NewPlace {
  /** `owner/name`. */
  readonly name: string;
  readonly url: string;
}

/** What git shows to users of a former name; without a line feed. */
export function movedNotice({ name, url }: NewPlace): string {
  return `This repository is now ${name}: git remote set-url origin ${url}`;
}
