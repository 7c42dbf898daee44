/** A repository's name, as displayed. Names that differ only in case are the same name. */
export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
}

/** Characters that all file systems and URLs support. The suffix `.git` is allowed only in URLs,
 * where it is ignored. */
const PART = /^(?!\.\.?$)(?!.*\.git$)[A-Za-z0-9._-]{1,100}$/i;

/** The rule for names, in words. */
export const NAME_RULE = "1 to 100 letters, digits, '.', '_', '-'; not '.', '..', and no '.git' at the end";

/** Owner names that have another meaning in URLs. */
const RESERVED_OWNERS: ReadonlySet<string> = new Set(["api", "-"]);

/** Whether an owner may have this name. */
export function isOwnerName(owner: string): boolean {
  return PART.test(owner) && !RESERVED_OWNERS.has(owner.toLowerCase());
}

/** Whether a repository may have this name. */
export function isRepositoryName(name: string): boolean {
  return PART.test(name);
}

/** Parses owner and name from a path: `name` and `name.git` are the same.
 * @returns null for an invalid name */
export function parseRepositoryName(owner: string, repository: string): RepositoryName | null {
  const name = repository.replace(/\.git$/, "");
  return isOwnerName(owner) && isRepositoryName(name) ? { owner, name } : null;
}

/** Makes a key that is the same for all spellings of a name. */
export function foldRepositoryName({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase();
}
