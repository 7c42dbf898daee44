import { FIRST_PLACE, type CopyPart, type CopyPlace, readPart } from "../store/forks/table-copy.ts";
import { SCHEMA_VERSION } from "../store/sql/schema.ts";
import type { FamilyMember } from "../state/family.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { setPin } from "./pins.ts";

/** @see FamilyMember.beginFork */
export function beginFork(
  repository: RepositoryState,
  holder: string,
  version: number,
): Awaited<ReturnType<FamilyMember["beginFork"]>> {
  const { tables, fsck, layout, platform } = repository;
  if (tables === null) return "missing";
  const own = `${repository.key}/`;
  const keys = Array.from(tables.chunks.keys()).filter((key) => key.startsWith(own));
  if (!setPin(repository, holder, version, keys)) return "overtaken";
  // Nothing comes between the pin and the first part.
  const first = readPart(platform.sql, FIRST_PLACE);
  return { schema: SCHEMA_VERSION, fsck, refs: tables.refs.all(), head: tables.refs.head(), first, layout };
}

/** @see FamilyMember.readForkPart */
export function readForkPart(repository: RepositoryState, layout: string, place: CopyPlace): CopyPart | null {
  const { tables, platform } = repository;
  return tables === null || repository.layout !== layout ? null : readPart(platform.sql, place);
}
