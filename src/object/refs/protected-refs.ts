import type { ProtectedRefs } from "../../base/access/ref-rules.ts";
import type { OpenRepository } from "../objects/open-repository.ts";

/** The rules for refs, in order. Patterns are byte strings. */
export async function protectedRefs({ tables }: OpenRepository): Promise<ProtectedRefs[]> {
  return tables.refRules.all();
}

/** Replaces all rules. They apply to every push that is applied from now on. */
export async function configureProtectedRefs(
  { tables, state }: OpenRepository,
  rules: readonly ProtectedRefs[],
): Promise<ProtectedRefs[]> {
  state.platform.transactor.transactionSync(() => tables.refRules.replace(rules));
  return tables.refRules.all();
}
