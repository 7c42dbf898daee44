import { parseCommit } from "../../base/format/commit.ts";
import { MAX_SUBST_BYTES, MAX_SUBST_PARENTS } from "../../base/format/limits.ts";
import { toHex } from "../../base/format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { Revision } from "../objects/revision.ts";
import type { ArchivedCommit } from "../../contract/files.ts";

/** The fewest digits of an abbreviated id. @see git's FALLBACK_DEFAULT_ABBREV */
const MIN_DIGITS = 7;

/** Finds what the placeholders of an archive stand for.
 * @returns null: the commit is too large, or not in UTF-8, so that none is expanded
 * @throws GitError "storage-failed" */
export async function findArchived(
  repository: OpenRepository,
  { oid, number }: Revision,
): Promise<ArchivedCommit | null> {
  if (repository.tables.objects.find(oid)!.size > MAX_SUBST_BYTES) return null;
  const content = (await repository.reader.read(number)).bytes;
  const { tree, parents, extraHeaders } = parseCommit(content);
  const encoding = extraHeaders.find(({ name }) => name === "encoding")?.value ?? "UTF-8";
  // Git converts it, from more encodings than are known here.
  if (!/^utf-?8$/i.test(encoding) && content.some((byte) => byte > 0x7f)) return null;
  const ids = [oid, tree, ...(parents.length > MAX_SUBST_PARENTS ? [] : parents)].map((id) => toHex(id));
  const digits = defaultDigits(repository);
  return {
    oid: ids[0]!,
    content,
    abbreviated: Object.fromEntries(ids.map((id) => [id, abbreviate(repository, id, digits)])),
  };
}

/** @see repo_find_unique_abbrev_r() in git's object-name.c */
function defaultDigits({ tables }: OpenRepository): number {
  const bits = Math.floor(Math.log2(Math.max(1, tables.objects.present().size))) + 1;
  return Math.max(MIN_DIGITS, Math.ceil(bits / 2));
}

/** A full id is unique. */
function abbreviate({ tables }: OpenRepository, id: string, digits: number): string {
  let length = digits;
  while (tables.objects.withPrefix(id.slice(0, length)).length > 1) length += 1;
  return id.slice(0, length);
}
