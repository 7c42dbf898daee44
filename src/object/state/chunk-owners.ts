// Owners of R2 objects. R2 keys begin with the id of the repository that wrote them.

/** Takes the id of the repository that wrote an R2 object, and deletes it, from its key. */
export function ownerOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

/** Groups R2 objects by the id of the repository that wrote them. */
export function keysByOwner(keys: Iterable<string>): Map<string, Set<string>> {
  const byOwner = new Map<string, Set<string>>();
  for (const key of keys) {
    const owner = ownerOf(key);
    byOwner.set(owner, (byOwner.get(owner) ?? new Set()).add(key));
  }
  return byOwner;
}
