import { isGitError, statusOf } from "../../../base/format/errors.ts";
import type { Faults } from "./fields.tsx";

/** A form that is shown again: why, and with which status. */
export interface Refusal {
  readonly faults: Faults;
  readonly status: number;
}

/** What a person did wrong in a form, by field. */
export function invalid(faults: Faults): Refusal {
  return { faults, status: 422 };
}

/** Turns a failure into what a form says, so that what was typed is kept.
 * @param fields of the form, by those that the failure names
 * @throws the failure itself, if it hides whether there is anything, or is the server's */
export function refusalOf(error: unknown, fields: Readonly<Record<string, string>> = {}): Refusal {
  if (!isGitError(error) || error.code === "unauthenticated") throw error;
  const status = statusOf(error.code);
  const isHidden = error.code === "not-found" && error.data.subject === "repository";
  if (isHidden || status === 500) throw error;
  const named = error.data.field ?? "";
  return { faults: { [fields[named] ?? ""]: toSentence(error.message) }, status };
}

/** A message, as people write it. */
function toSentence(message: string): string {
  const first = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
