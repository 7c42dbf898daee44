/** Names a repository, as it is shown. Two names that differ only in case are one: they lead to the same repository. */
export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
}

/** What file systems and URLs bear everywhere; a name ends in `.git` only in a URL, where that stands for nothing. */
const PART = /^(?!\.\.?$)(?!.*\.git$)[A-Za-z0-9._-]{1,100}$/i;

/** Owners whose repositories would have URLs of other meaning. */
const RESERVED_OWNERS: ReadonlySet<string> = new Set(["api"]);

/** Whether somebody can own repositories under this name. */
export function isOwnerName(owner: string): boolean {
  return PART.test(owner) && !RESERVED_OWNERS.has(owner.toLowerCase());
}

/** Whether a repository can have this name. */
export function isRepositoryName(name: string): boolean {
  return PART.test(name);
}

/** Reads the two parts of a path that name a repository: `name` and `name.git` are one.
 * @returns null when no repository can have that name */
export function parseRepositoryName(owner: string, repository: string): RepositoryName | null {
  const name = repository.replace(/\.git$/, "");
  return isOwnerName(owner) && isRepositoryName(name) ? { owner, name } : null;
}

/** The same for all spellings of a name. */
export function foldRepositoryName({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase();
}
