import type { ProtectedRefs } from "../../access/ref-rules.ts";
import type { OpenRepository } from "../objects/open-repository.ts";

/** The rules for refs, in their order. Patterns are byte strings. */
export async function protectedRefs({ tables }: OpenRepository): Promise<ProtectedRefs[]> {
  return tables.refRules.all();
}

/** Puts other rules in the place of all: they hold for every push that settles from now on. */
export async function configureProtectedRefs(
  { tables, state }: OpenRepository,
  rules: readonly ProtectedRefs[],
): Promise<ProtectedRefs[]> {
  state.platform.transactor.transactionSync(() => tables.refRules.replace(rules));
  return tables.refRules.all();
}
