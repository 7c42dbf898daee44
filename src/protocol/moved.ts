/** Where a repository is that was asked for by a name which it left. */
export interface NewPlace {
  /** `owner/name`. */
  readonly name: string;
  readonly url: string;
}

/** What git shows whoever still uses the name before; without a line feed. */
export function movedNotice({ name, url }: NewPlace): string {
  return `This repository is now ${name}: git remote set-url origin ${url}`;
}
