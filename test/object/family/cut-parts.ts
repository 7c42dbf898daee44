import type { ForkOrigin } from "../../../src/object/state/family.ts";
import { type CopyPart, type CopyPlace, FIRST_PLACE } from "../../../src/object/store/forks/table-copy.ts";

/** Shortens an answer to a fork to the first rows of its part of the tables; the next part begins
 * after them. Other answers stay as they are.
 * @param args of the call
 * @param most rows */
export function cutAnswer(args: readonly unknown[], answer: unknown, most: number): unknown {
  if (isObject<ForkOrigin>(answer, "first")) return { ...answer, first: cutPart(answer.first, FIRST_PLACE, most) };
  return isObject<CopyPart>(answer, "next") ? cutPart(answer, args[1] as CopyPlace, most) : answer;
}

function isObject<T extends object>(value: unknown, field: keyof T): value is T {
  return typeof value === "object" && value !== null && field in value;
}

function cutPart(part: CopyPart, place: CopyPlace, most: number): CopyPart {
  if (part.rows.length <= most) return part;
  const rows = part.rows.slice(0, most);
  const { table } = rows.at(-1)!;
  const before = table === place.table ? place.row : 0;
  return { rows, next: { table, row: before + rows.filter((row) => row.table === table).length } };
}
