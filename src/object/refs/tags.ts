import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { decodeText, fromByteString } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { MAX_HEAD_BYTES } from "../../base/format/shown-limits.ts";
import { fromTypeNumber } from "../../base/format/object.ts";
import { concatOids, toHex } from "../../base/format/oid.ts";
import { encodeTag, parseTagHead, type Tag, type TagHead } from "../../base/format/tag.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Ref } from "../store/refs/refs.ts";
import { NewObjects } from "../push/new-objects.ts";
import { publish } from "../push/publish.ts";
import { cutText, toIdentRecord } from "../objects/commit-record.ts";
import { ListBudget, type RecordBounds } from "../objects/list-budget.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { showTagContent } from "../objects/shown-object.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import { checkAbsent, checkExpected, checkForward, demandRef, renameRef, resolveTarget } from "./move-ref.ts";
import type { Expected, TagRecord, Annotation } from "../../contract/refs.ts";
import { TAGS } from "../../base/format/ref-name.ts";

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
 * @param part of its message, from 1
 * @throws GitError "not-found", "invalid" for the part */
export async function tag(
  repository: OpenRepository,
  { name, part }: { readonly name: string; readonly part: number },
): Promise<TagRecord> {
  const oid = demandRef(repository, TAGS + name);
  const [record] = await describeTags(repository, [repository.tables.refs.get(TAGS + name)!]);
  const { messageTruncated: _, ...rest } = record!;
  if (!rest.isAnnotated) return rest;
  const content = (await repository.reader.read(repository.numberOf(oid))).bytes;
  const { message, messageTruncated, messageParts, tagger } = showTagContent(content, part);
  return {
    ...rest,
    tagger,
    message,
    ...(messageTruncated && { messageTruncated }),
    ...(messageParts !== undefined && { messageParts }),
  };
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
  return tag(repository, { name: newName, part: 1 });
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
  return tag(repository, { name, part: 1 });
}

function encode(
  name: string,
  { oid, type }: Pick<Tag, "type"> & { oid: Uint8Array },
  annotation: Annotation,
): Uint8Array {
  const { tagger, message } = annotation;
  return encodeTag({ object: oid, type, name, tagger, extraHeaders: [], message: fromByteString(message) });
}

/** Tags as they are shown in lists, which cut what is long. */
export async function describeTags(
  repository: OpenRepository,
  page: readonly Ref[],
  budget = new ListBudget(),
): Promise<TagRecord[]> {
  const { objects } = repository.tables;
  const { number } = objects.lookupMany(concatOids(page.map(({ oid }) => oid)));
  const targets = objects.lookupMany(concatOids(page.map(({ oid, peeled }) => peeled ?? oid)));
  const annotated = [...new Set(number.filter((_, i) => page[i]!.peeled !== null))].sort((a, b) => a - b);
  const annotations = new Map<ObjectNumber, ShownAnnotation>();
  for await (const [found, shown] of readAnnotations(repository, NumberSet.fromSorted(annotated), budget))
    annotations.set(found, shown);
  return page.map(({ name, oid, peeled }, i) => {
    if (targets.number[i] === 0)
      throw new GitError("storage-failed", { key: "object_chunks", reason: "a tag's target is missing" });
    const annotation = annotations.get(number[i]!);
    return {
      name: decodeText(name.slice(TAGS.length)),
      oid: toHex(oid),
      isAnnotated: annotation !== undefined,
      target: { oid: toHex(peeled ?? oid), type: fromTypeNumber(targets.type[i]!) },
      ...(annotation ?? { message: null, tagger: null }),
    };
  });
}

/** What a tag object adds to a tag. */
type ShownAnnotation = Pick<TagRecord, "message" | "messageTruncated" | "tagger">;

async function* readAnnotations(
  { reader, tables }: OpenRepository,
  numbers: NumberSet,
  budget: ListBudget,
): AsyncGenerator<[number: ObjectNumber, shown: ShownAnnotation]> {
  const { size } = tables.objects.locate(numbers);
  const slice = new TimeSlice();
  let at = 0;
  for await (const [number, bytes] of reader.readHeads(numbers, size, MAX_HEAD_BYTES, (cost) =>
    budget.takeRead(cost),
  )) {
    const sizeBytes = size[at++]!;
    let isWhole = bytes?.length === sizeBytes;
    let head = bytes === null ? null : parseTagHead(bytes, isWhole);
    if (head !== null && head.message === null && budget.takeRead(sizeBytes)) {
      isWhole = true;
      head = parseTagHead((await reader.read(number)).bytes, isWhole);
    }
    const shown = describeAnnotation(head, isWhole, budget.bounds);
    budget.noteText(shown.message!.length + (shown.tagger?.name.length ?? 0) + (shown.tagger?.email.length ?? 0));
    yield [number, shown];
    if (sizeBytes > MAX_HEAD_BYTES) await slice.pause();
  }
}

/** @param head null: it was not read */
function describeAnnotation(
  head: TagHead | null,
  isWhole: boolean,
  { messageBytes, nameBytes }: RecordBounds,
): ShownAnnotation {
  const { text, isCut } = cutText(head?.message ?? new Uint8Array(0), messageBytes);
  const tagger = head?.tagger ?? null;
  return {
    message: text,
    ...((isCut || !isWhole) && { messageTruncated: true }),
    tagger: tagger && toIdentRecord(tagger, { nameBytes, timeSeconds: 0 }),
  };
}
