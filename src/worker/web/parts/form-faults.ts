import { isGitError, statusOf } from "../../../base/format/errors.ts";
import type { Faults } from "./fields.tsx";

/** The reason why a form is shown again, and the status. */
export interface Refusal {
  readonly faults: Faults;
  readonly status: number;
}

/** Makes the refusal of an invalid input, by field. */
export function invalid(faults: Faults): Refusal {
  return { faults, status: 422 };
}

/** Turns a failure into a refusal of the form, so that the input is kept.
 * @param fields of the form, by the names in the failure
 * @throws the failure itself, if it hides whether something exists, or is a server error */
export function refusalOf(error: unknown, fields: Readonly<Record<string, string>> = {}): Refusal {
  if (!isGitError(error) || error.code === "unauthenticated") throw error;
  const status = statusOf(error.code);
  const isHidden = error.code === "not-found" && error.data.subject === "repository";
  if (isHidden || status === 500) throw error;
  const named = error.data.field ?? "";
  return { faults: { [fields[named] ?? ""]: toSentence(error.message) }, status };
}

/** Writes a message as a sentence. */
function toSentence(message: string): string {
  const first = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
