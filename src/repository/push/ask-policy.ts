// A deployment may have a policy of its own: a Worker that is asked about changes of refs, whatever
// makes them, before they are settled. It is asked outside of the transaction, which compares the
// refs with what it was told. If it does not answer, nothing changes.
import { nameOf, type Requester } from "../../access/caller.ts";
import { decodeText, encodeText } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";
import { isNullOid, toHex } from "../../format/oid.ts";
import { ANSWER_LIFE_MS } from "../../store/registry/registry-answers.ts";
import type { PushRequest, RefCommand } from "../state/push.ts";
import type { RepositoryPlatform } from "../state/repository-state.ts";

/** How long the policy may take (ms): a change waits for it. */
const POLICY_MS = 5_000;

/** Characters of a reason that a client is told. */
const MAX_REASON_CHARS = 1_000;

/** What the policy is asked, as JSON. */
export interface PolicyQuestion {
  readonly repository: { readonly id: string; readonly owner: string | null; readonly name: string | null };
  /** `name` null: access is open. */
  readonly caller: { readonly name: string | null; readonly right: string };
  /** Ids in hex; null: absent. */
  readonly changes: readonly { readonly ref: string; readonly old: string | null; readonly new: string | null }[];
  readonly pushOptions: readonly string[];
}

/** What it answers, as JSON. Without `refs`, `reason` denies all of them. */
export type PolicyAnswer =
  | { readonly allow: true }
  | { readonly allow: false; readonly reason?: string; readonly refs?: Readonly<Record<string, string>> };

/** Why refs may not change, by name; byte strings. */
export type DeniedRefs = ReadonlyMap<string, string>;

const NOTHING_DENIED: DeniedRefs = new Map();

/** The policy's answer about one push. */
export class PolicyCheck {
  readonly #platform: RepositoryPlatform;
  readonly #request: Pick<PushRequest, "commands" | "pushOptions" | "requester" | "steps" | "upload">;
  #askedMs = 0;
  denied = NOTHING_DENIED;

  constructor(platform: RepositoryPlatform, request: PushRequest) {
    this.#platform = platform;
    this.#request = request;
  }

  /** Asks the policy, if there is one, unless it was asked a moment ago.
   * @throws GitError "unavailable" when it does not answer */
  async ask(): Promise<void> {
    const { commands, pushOptions, requester, steps, upload } = this.#request;
    // A step moves no ref.
    if (this.#platform.outside.askPolicy === null || upload?.isStep === true) return;
    if (Date.now() - this.#askedMs < ANSWER_LIFE_MS) return;
    this.#askedMs = Date.now();
    const [{ name }] = commands as [RefCommand];
    const asked = steps?.map((step) => ({ requester: step.requester, commands: [{ ...step, name }] }));
    const answers = await Promise.all(
      (asked ?? [{ requester, commands }]).map((one) => askPolicy(this.#platform, one, pushOptions)),
    );
    this.denied = new Map(answers.flatMap((answer) => [...answer]));
  }
}

/** Whether an error says that the policy did not answer. */
export function isPolicyFailure({ code, data }: GitError): boolean {
  return code === "unavailable" && data["what"] === "policy";
}

async function askPolicy(
  platform: RepositoryPlatform,
  { requester, commands }: { readonly requester: Requester; readonly commands: readonly RefCommand[] },
  pushOptions: readonly string[],
): Promise<DeniedRefs> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not answer within ${POLICY_MS / 1_000} seconds`)), POLICY_MS);
  });
  const ask = async (): Promise<DeniedRefs> => {
    const who = nameOf(requester.caller);
    const hexOf = (oid: Uint8Array): string | null => (isNullOid(oid) ? null : toHex(oid));
    const name = await platform.registry.nameOf(platform.id);
    const question: PolicyQuestion = {
      repository: { id: platform.id, owner: name?.owner ?? null, name: name?.name ?? null },
      caller: { name: who && decodeText(who), right: requester.right },
      changes: commands.map((command) => ({
        ref: decodeText(command.name),
        old: hexOf(command.old),
        new: hexOf(command.new),
      })),
      pushOptions: pushOptions.map(decodeText),
    };
    const answer = await platform.outside.askPolicy!(JSON.stringify(question));
    if (answer.status !== 200) throw new Error(`it answered ${answer.status}`);
    return readAnswer((await answer.json()) as Partial<PolicyAnswer> | null, commands);
  };
  try {
    return await Promise.race([ask(), late]);
  } catch (cause) {
    const reason = `${(cause as Error).message}; nothing has changed`;
    throw new GitError("unavailable", { what: "policy", reason }, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** @throws Error for an answer that is none */
function readAnswer(answer: Partial<PolicyAnswer> | null, commands: readonly RefCommand[]): DeniedRefs {
  if (answer?.allow === true) return NOTHING_DENIED;
  if (answer?.allow !== false) throw new Error("its answer is neither to allow nor to deny");
  const { reason = "denied", refs } = answer;
  const denied = new Map<string, string>();
  for (const { name } of commands) {
    const text = refs === undefined ? reason : refs[decodeText(name)];
    if (text !== undefined) denied.set(name, encodeText(`policy: ${String(text).slice(0, MAX_REASON_CHARS)}`));
  }
  if (denied.size === 0) throw new Error("it denies refs that do not change");
  return denied;
}
