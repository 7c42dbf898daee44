// Finds, creates, forks and changes repositories, for the API and the pages.
import { encodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { foldRepositoryName, parseRepositoryName, type RepositoryName } from "../../base/format/repository-name.ts";
import type { NameRefusal, RepositoryChange, RepositoryDetails, RepositoryEntry } from "../../contract/registry.ts";
import type { Deployment, RepositoryRegistry } from "./deployment.ts";
import type { RepositoryClient } from "../../contract/calls.ts";

/** A fork to be made. */
interface WantedFork extends RepositoryName, RepositoryDetails {
  /** Byte strings, without `refs/heads/`; null: all refs. */
  readonly branches: readonly string[] | null;
  /** Ms since 1970; null: the fork does not expire. */
  readonly expiresMs: number | null;
}

/** @throws GitError "not-found" */
export async function readEntry(
  registry: RepositoryRegistry,
  owner: string,
  repository: string,
): Promise<RepositoryEntry> {
  const name = parseRepositoryName(owner, repository);
  const entry = name === null ? null : await registry.read(name);
  if (entry === null) throw notFound();
  return entry;
}

/** Creates an empty repository.
 * @param defaultBranch without `refs/heads/`, byte string
 * @throws GitError "conflict" or "invalid" for the field `name`, and as `RepositoryRegistry` */
export async function createRepository(
  registry: RepositoryRegistry,
  asked: RepositoryName,
  details: RepositoryDetails,
  defaultBranch: string,
): Promise<RepositoryEntry> {
  const refusal = await registry.create(asked, details, defaultBranch);
  if (refusal !== null) throw nameError(asked, refusal);
  return readEntry(registry, asked.owner, asked.name);
}

/** Creates a fork.
 * @throws GitError as `createRepository`, "invalid" for the field `visibility` */
export async function forkRepository(
  registry: RepositoryRegistry,
  parent: RepositoryEntry,
  { owner, name, description, visibility, ...request }: WantedFork,
): Promise<RepositoryEntry> {
  if (visibility === "public" && parent.visibility === "private") {
    const reason = "the fork of a private repository is private";
    throw new GitError("invalid", { what: "visibility", field: "visibility", reason });
  }
  const refusal = await registry.fork({ owner, name }, { description, visibility }, { parent: parent.id, ...request });
  if (refusal !== null) throw nameError({ owner, name }, refusal);
  return readEntry(registry, owner, name);
}

/** Changes or renames a repository.
 * @param client opened with the right of an admin
 * @param change with `defaultBranch` as text
 * @throws GitError "invalid" or "conflict" with the field, and as `RepositoryRegistry` */
export async function changeRepository(
  { registry, demand }: Pick<Deployment, "registry" | "demand">,
  client: RepositoryClient,
  entry: RepositoryEntry,
  { defaultBranch, ...change }: RepositoryChange & { readonly defaultBranch?: string | undefined },
): Promise<RepositoryEntry> {
  const branch = defaultBranch === undefined ? null : encodeText(defaultBranch);
  const named = { owner: change.owner ?? entry.owner, name: change.name ?? entry.name };
  // Checked before the answer can reveal whether the name is taken: callers without a right to the
  // owner must not learn the names of its repositories.
  if (foldRepositoryName(named) !== foldRepositoryName(entry)) {
    // Needs admin, so that a caller who moves a repository to another owner can also move it back.
    const isGiven = named.owner.toLowerCase() !== entry.owner.toLowerCase();
    await demand(isGiven ? "admin" : "write", named.owner);
  }
  // The checks that may fail come first.
  if (branch !== null) await client.checkDefaultBranch(branch);
  const outcome = await registry.update(entry, change);
  if (outcome === null) throw notFound();
  if (outcome.kind !== "updated") throw nameError(named, outcome);
  if (branch !== null) await client.setDefaultBranch(branch);
  await noteChange(client, entry, outcome.entry);
  return { ...outcome.entry, ...(branch !== null && { defaultBranch: branch }) };
}

/** Records a new name or visibility in the repository's event log. */
async function noteChange(client: RepositoryClient, before: RepositoryEntry, after: RepositoryEntry): Promise<void> {
  const nameOf = ({ owner, name }: RepositoryName): string => `${owner}/${name}`;
  if (nameOf(before) !== nameOf(after))
    await client.noteRepositoryChange({ action: "renamed", from: nameOf(before), to: nameOf(after) });
  if (before.visibility !== after.visibility)
    await client.noteRepositoryChange({ action: after.visibility === "public" ? "published" : "hidden" });
}

/** The error for a missing repository. */
export function notFound(): GitError {
  return new GitError("not-found", { subject: "repository" });
}

/** The error for a refused name. */
function nameError(asked: RepositoryName, refusal: NameRefusal): GitError {
  if (refusal.kind === "held") {
    const reason = "another repository had it a moment ago";
    return new GitError("conflict", { what: "name", field: "name", reason, retryAfterMs: refusal.retryAfterMs });
  }
  const { owner, name } = refusal.by;
  if (owner === asked.owner && name === asked.name) {
    return new GitError("conflict", { what: "name", field: "name", reason: "a repository of this name exists" });
  }
  const reason = `it differs only in case from ${owner}/${name}, which exists`;
  return new GitError("invalid", { what: "name", field: "name", reason });
}
