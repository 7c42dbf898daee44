import type { RefChange } from "../../base/access/ref-rules.ts";
import { encodeText } from "../../base/format/byte-string.ts";
import { type Oid, toHex } from "../../base/format/oid.ts";
import type { StatusTable } from "../store/events/status-table.ts";

/** Hex digits of the commit's id that are told. */
const SHOWN_HEX = 12;

/** What the rules for refs ask of a change that merges a commit.
 * @param merged null: it merges none, and no check is required */
export function checksOf(statuses: StatusTable, merged: Oid | null): Pick<RefChange, "findUnmet"> {
  return merged === null ? {} : { findUnmet: (contexts) => describeUnmet(statuses, merged, contexts) };
}

function describeUnmet(statuses: StatusTable, commit: Oid, contexts: readonly string[]): string | null {
  const states = new Map(statuses.of(commit).map(({ context, state }) => [context, state]));
  const unmet = contexts.filter((context) => states.get(context) !== "success");
  if (unmet.length === 0) return null;
  const listed = unmet.map((context) => `${context} (${states.get(context) ?? "not set"})`).join(", ");
  return encodeText(`${listed} for ${toHex(commit).slice(0, SHOWN_HEX)}`);
}
