import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { encodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { fromTypeNumber, type ObjectType } from "../../base/format/object.ts";
import { isHexOid, type Oid, toHex } from "../../base/format/oid.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import { refsNamed } from "./named-refs.ts";
import type { OpenRepository } from "./open-repository.ts";
import { TagPeeling } from "./tag-peeling.ts";
import { entryAt } from "./tree-path.ts";

/** The object that a revision names. */
export interface Revision {
  readonly oid: Oid;
  readonly number: ObjectNumber;
  readonly type: ObjectType;
}

/** Minimum number of hex digits of an abbreviated id.
 * @see git's object-name.c: MINIMUM_ABBREV */
const MIN_ABBREV = 4;

/** Limit of a revision's steps: each costs a lookup in the graph. */
const MAX_STEPS = 100;

const STEP = /^(?:~(?<back>\d{0,9})|\^\{(?<type>[a-z]*)\}|\^(?<parent>\d{0,9}))/;

/** Resolves a revision: a ref's full or short name (if several refs have it, the branch), `HEAD` or
 * `@`, or a full or abbreviated id. Any of `~n`, `^n`, `^{type}`, `^{}` may follow, then `:path`.
 * Reflog entries and message searches are not supported.
 * @param text byte string
 * @param wanted the type to prefer for an ambiguous abbreviation
 * @throws GitError "not-found" when there is none, "ambiguous" when there are several, "invalid" on
 * bad syntax, "wrong-type"
 * @see gitrevisions(7) */
export async function resolveRevision(
  repository: OpenRepository,
  text: string,
  wanted: "commit" | "object" = "object",
): Promise<Revision> {
  const colon = text.indexOf(":");
  if (colon < 0) return walkSteps(repository, text, wanted);
  const tree = peel(repository, walkSteps(repository, text.slice(0, colon), "commit"), "tree");
  const path = text.slice(colon + 1).replace(/\/$/, "");
  if (path === "") return tree;
  const entry = await entryAt(repository, tree.number, path);
  if (entry === null || entry.number === 0) throw notFound(text);
  return revisionOf(repository, entry.number);
}

/** Finds the commit that a revision names, through tags.
 * @throws GitError as `resolveRevision`, "wrong-type" for a tree or blob */
export async function resolveCommit(repository: OpenRepository, text: string): Promise<Revision> {
  return peel(repository, await resolveRevision(repository, text, "commit"), "commit");
}

/** Resolves a revision for the API: ids in hex.
 * @throws GitError as `resolveRevision` */
export async function resolve(
  repository: OpenRepository,
  ref: string,
): Promise<{ oid: string; type: ObjectType; commit: string | null }> {
  const revision = await resolveRevision(repository, encodeText(ref), "commit");
  const end = peelTags(repository, revision);
  return { oid: toHex(revision.oid), type: revision.type, commit: end.type === "commit" ? toHex(end.oid) : null };
}

/** Peels a revision to a type: a tag to its target, a commit to its tree.
 * @throws GitError "wrong-type" when it has none */
export function peel(repository: OpenRepository, revision: Revision, type: ObjectType): Revision {
  if (revision.type === type) return revision;
  const { graph } = repository.tables;
  const end = peelTags(repository, revision);
  if (end.type === type) return end;
  if (end.type === "commit" && type === "tree") {
    return revisionOf(repository, graph.tree(graph.position(end.number)));
  }
  throw new GitError("wrong-type", { oid: toHex(revision.oid), expected: type, actual: revision.type });
}

/** Peels tags to the first object that is not a tag; returns any other object itself. */
function peelTags(repository: OpenRepository, revision: Revision): Revision {
  if (revision.type !== "tag") return revision;
  const { graph } = repository.tables;
  const end = new TagPeeling(graph).endOf(graph.position(revision.number));
  const reached = revisionOf(repository, graph.number(end));
  // A tag of a tree or blob has its target as its tree.
  return reached.type === "tag" ? revisionOf(repository, graph.tree(end)) : reached;
}

/** Finds the id and type of a stored object. */
export function revisionOf({ tables }: OpenRepository, number: ObjectNumber): Revision {
  const { oid, type } = tables.objects.locate(NumberSet.of(number));
  return { oid, number, type: fromTypeNumber(type[0]!) };
}

function walkSteps(repository: OpenRepository, text: string, wanted: "commit" | "object"): Revision {
  const start = text.search(/[~^]/);
  let steps = start < 0 ? "" : text.slice(start);
  let at = findStart(repository, start < 0 ? text : text.slice(0, start), start < 0 ? wanted : "commit");
  for (let count = 0; steps !== ""; count++) {
    const step = STEP.exec(steps);
    if (step === null || count === MAX_STEPS) throw new GitError("invalid", { what: "revision", actual: text });
    steps = steps.slice(step[0].length);
    const next = walkStep(repository, at, step.groups!);
    if (next === null) throw notFound(text);
    at = next;
  }
  return at;
}

/** Follows one step of a revision.
 * @returns null when there are fewer parents */
function walkStep(
  repository: OpenRepository,
  at: Revision,
  { back, type, parent }: Record<string, string | undefined>,
): Revision | null {
  if (type !== undefined) return peelTo(repository, at, type);
  const commit = peel(repository, at, "commit");
  const { graph } = repository.tables;
  let position = graph.position(commit.number);
  if (back === undefined) {
    const nth = parent === "" ? 1 : Number(parent);
    if (nth === 0) return commit;
    const found = graph.parents(position)[nth - 1];
    return found === undefined ? null : revisionOf(repository, graph.number(found));
  }
  for (let left = back === "" ? 1 : Number(back); left > 0; left--) {
    const first = graph.parents(position)[0];
    if (first === undefined) return null;
    position = first;
  }
  return revisionOf(repository, graph.number(position));
}

/** Peels by `^{type}`; `^{}` peels tags, `^{object}` peels nothing. */
function peelTo(repository: OpenRepository, at: Revision, type: string): Revision {
  switch (type) {
    case "":
      return peelTags(repository, at);
    case "object":
      return at;
    case "commit":
    case "tree":
    case "blob":
    case "tag":
      return peel(repository, at, type);
    default:
      throw new GitError("invalid", { what: "revision", actual: `^{${type}}` });
  }
}

/** Resolves a name without steps: a ref before an id, as in git, and a branch before a tag, unlike
 * git. An ambiguous name is recorded. @see refsNamed */
function findStart(repository: OpenRepository, name: string, wanted: "commit" | "object"): Revision {
  if (isHexOid(name)) {
    const row = repository.find(Uint8Array.fromHex(name));
    if (row === null) throw notFound(name);
    return revisionOf(repository, row.number);
  }
  const named = refsNamed(repository.advertised, name === "@" ? "HEAD" : name);
  const ids = findAbbreviated(repository, name, wanted);
  const [ref] = named;
  if (ref !== undefined) {
    const idsToo = ids.length === 1 ? [toHex(ids[0]!.oid)] : [];
    repository.noteMeanings([...named.map(({ name: full }) => full), ...idsToo]);
    return revisionOf(repository, repository.numberOf(ref.oid));
  }
  if (ids.length > 1) throw new GitError("ambiguous", { what: "revision", actual: name });
  if (ids.length === 0) throw notFound(name);
  return ids[0]!;
}

/** Finds the objects whose ids have this prefix; of several, those of the wanted type. */
function findAbbreviated(repository: OpenRepository, name: string, wanted: "commit" | "object"): Revision[] {
  if (name.length < MIN_ABBREV || !/^[0-9a-f]+$/i.test(name)) return [];
  const found = repository.tables.objects
    .withPrefix(name.toLowerCase())
    .filter((number) => repository.isReachable(number))
    .map((number) => revisionOf(repository, number));
  if (found.length === 1 || wanted === "object") return found;
  return found.filter(({ type }) => type === "commit" || type === "tag");
}

function notFound(text: string): GitError {
  return new GitError("not-found", { what: "revision", reason: text });
}
