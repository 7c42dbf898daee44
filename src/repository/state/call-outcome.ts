// How a call of the API gets from the Worker to an object and back.
import { GitError, type GitErrorCode, type GitErrorData } from "../../format/errors.ts";

/** The meanings of ambiguous names. @see OpenRepository.ambiguities */
export type Ambiguities = readonly (readonly string[])[];

/** The result of a call, in a form that can cross from the object to the Worker, where errors would
 * lose their data. */
export type CallOutcome =
  | { readonly kind: "done"; readonly value: unknown; readonly ambiguities: Ambiguities }
  /** This object has no repository: the name may now belong to another object. */
  | { readonly kind: "unknown-repository" }
  | {
      readonly kind: "failed";
      readonly code: GitErrorCode;
      readonly data: GitErrorData;
      readonly ambiguities: Ambiguities;
    };

/** Calls by their names: functions of what the object holds, one argument, and what is known of the
 * caller. */
type Calls = Record<string, (held: never, argument: never, ...known: never) => Promise<unknown>>;

/** Every call of a table as a method of its argument.
 * @throws GitError "not-found" when the repository does not exist, and the errors of the call */
export type Client<Table extends Calls> = {
  readonly [Name in keyof Table]: (
    ...argument: Parameters<Table[Name]> extends [unknown, infer Argument, ...unknown[]] ? [Argument] : []
  ) => ReturnType<Table[Name]>;
};

/** Makes the methods of a client.
 * @param calls their table
 * @param send carries a call to the object
 * @param noteAmbiguities receives the ambiguous names in a call */
export function newClient<Table extends Calls>(
  calls: Table,
  send: (name: keyof Table & string, argument: unknown) => Promise<CallOutcome>,
  noteAmbiguities: (ambiguities: Ambiguities) => void = () => undefined,
): Client<Table> {
  const method = (name: keyof Table & string) => async (argument: unknown) => {
    const outcome = await send(name, argument);
    if (outcome.kind === "unknown-repository") throw new GitError("not-found", { what: "repository" });
    noteAmbiguities(outcome.ambiguities);
    if (outcome.kind === "failed") throw new GitError(outcome.code, outcome.data);
    return outcome.value;
  };
  // A request uses one or two methods, so each is made on demand.
  return new Proxy({} as Client<Table>, {
    get: (_, name) => (Object.hasOwn(calls, name) ? method(name as keyof Table & string) : undefined),
  });
}
