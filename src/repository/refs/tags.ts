import type { ObjectNumber } from "../../store/numbers/kinds.ts";
import { decodeText, fromByteString, toByteString } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";
import type { Ident } from "../../format/ident.ts";
import { fromTypeNumber, type ObjectType } from "../../format/object.ts";
import { concatOids, toHex } from "../../format/oid.ts";
import { encodeTag, parseTag, type Tag } from "../../format/tag.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { Ref } from "../../store/refs/refs.ts";
import { NewObjects } from "../publish/new-objects.ts";
import { publish } from "../publish/publish.ts";
import { type IdentRecord, toIdentRecord } from "../objects/commit-record.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import {
  checkAbsent,
  checkExpected,
  checkForward,
  demandRef,
  type Expected,
  renameRef,
  resolveTarget,
  TAGS,
} from "./move-ref.ts";

/** A tag as the API shows it: text, ids in hex. */
export interface TagRecord {
  readonly name: string;
  /** The ref's value: for an annotated tag, the tag object. */
  readonly oid: string;
  readonly isAnnotated: boolean;
  /** The object that it finally points to. */
  readonly target: { readonly oid: string; readonly type: ObjectType };
  /** The message of an annotated tag, else null. A signature, if any, is at its end. */
  readonly message: string | null;
  /** Null also in tags older than git's tagger line. */
  readonly tagger: IdentRecord | null;
}

/** The parts that make a tag annotated. */
export interface Annotation {
  /** Byte string. */
  readonly message: string;
  readonly tagger: Ident;
}

/** One page of tags, in the order of their names.
 * @param after the page starts after this name, null: at the beginning; byte string
 * @returns the last name of the page, null: there are no more; byte string */
export async function tags(
  repository: OpenRepository,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ tags: TagRecord[]; next: string | null }> {
  const found = repository.tables.refs.page(TAGS, after && TAGS + after, limit + 1);
  const page = found.slice(0, limit);
  const records = await describeTags(repository, page);
  return { tags: records, next: found.length > limit ? page.at(-1)!.name.slice(TAGS.length) : null };
}

/** One tag.
 * @param name without `refs/tags/`, byte string
 * @throws GitError "not-found" */
export async function tag(repository: OpenRepository, name: string): Promise<TagRecord> {
  demandRef(repository, TAGS + name);
  const [record] = await describeTags(repository, [repository.tables.refs.get(TAGS + name)!]);
  return record!;
}

/** Creates a tag.
 * @param name without `refs/tags/`, byte string
 * @param target text, a revision: any object
 * @param annotation null: a lightweight tag
 * @throws GitError "conflict" when it already exists, or its name conflicts with another ref's; as
 * `resolveRevision`; the errors that refuse a tag object */
export async function createTag(
  repository: OpenRepository,
  { name, target, annotation }: { name: string; target: string; annotation: Annotation | null },
): Promise<TagRecord> {
  checkAbsent(repository, TAGS + name);
  return putTag(repository, { name, target, annotation, expected: undefined, force: false });
}

/** Points a tag at another object.
 * @param force without it, a tag does not move
 * @throws GitError "not-found", "stale" when it is not as expected, "conflict" without force; as
 * `createTag` */
export async function moveTag(
  repository: OpenRepository,
  change: { name: string; target: string; annotation: Annotation | null; expected?: Expected; force: boolean },
): Promise<TagRecord> {
  demandRef(repository, TAGS + change.name);
  return putTag(repository, change);
}

/** Renames a tag. The name inside a tag object stays.
 * @throws GitError "not-found", "stale" when it is not as expected, "conflict" when the name is
 * taken */
export async function renameTag(
  repository: OpenRepository,
  { name, newName, expected }: { name: string; newName: string; expected?: Expected },
): Promise<TagRecord> {
  await renameRef(repository, { from: TAGS + name, to: TAGS + newName, expected });
  return tag(repository, newName);
}

async function putTag(
  repository: OpenRepository,
  change: { name: string; target: string; annotation: Annotation | null; expected?: Expected; force: boolean },
): Promise<TagRecord> {
  const { name, annotation, expected, force } = change;
  const full = TAGS + name;
  const to = await resolveTarget(repository, full, change.target);
  const old = repository.tables.refs.get(full)?.oid ?? null;
  checkExpected(full, old, expected);
  if (old !== null && !force) checkForward(repository, full, old, to);
  const made = new NewObjects(repository.state.platform.codec);
  const oid = annotation === null ? to.oid : made.add("tag", encode(name, to, annotation));
  await publish(repository, [{ name: full, old, new: oid }], made.all());
  return tag(repository, name);
}

function encode(
  name: string,
  { oid, type }: Pick<Tag, "type"> & { oid: Uint8Array },
  annotation: Annotation,
): Uint8Array {
  const { tagger, message } = annotation;
  return encodeTag({ object: oid, type, name, tagger, extraHeaders: [], message: fromByteString(message) });
}

/** Tags as they are shown. */
export async function describeTags(repository: OpenRepository, page: readonly Ref[]): Promise<TagRecord[]> {
  const { objects } = repository.tables;
  const { number } = objects.lookupMany(concatOids(page.map(({ oid }) => oid)));
  const targets = objects.lookupMany(concatOids(page.map(({ oid, peeled }) => peeled ?? oid)));
  const annotated = [...new Set(number.filter((_, i) => page[i]!.peeled !== null))].sort((a, b) => a - b);
  const contents = new Map<ObjectNumber, Tag>();
  for await (const [found, { bytes }] of repository.reader.readEach(NumberSet.fromSorted(annotated))) {
    contents.set(found, parseTag(bytes));
  }
  return page.map(({ name, oid, peeled }, i) => {
    if (targets.number[i] === 0)
      throw new GitError("storage-failed", { key: "object_chunks", reason: "a tag's target is missing" });
    const object = contents.get(number[i]!);
    return {
      name: decodeText(name.slice(TAGS.length)),
      oid: toHex(oid),
      isAnnotated: object !== undefined,
      target: { oid: toHex(peeled ?? oid), type: fromTypeNumber(targets.type[i]!) },
      message: object === undefined ? null : decodeText(toByteString(object.message)),
      tagger: (object?.tagger ?? null) && toIdentRecord(object!.tagger!),
    };
  });
}
