// A deployment may have a policy of its own: a Worker that is asked about changes of refs, whatever
// makes them, before they are applied. It is asked by their names before a pack is read, and again,
// with the new commits, before the push is applied. It gets these in the question rather than by a
// way to ask back: so it needs no right and no secret, what it sees is bounded, and nothing can be
// read once it has answered. It is asked outside of the transaction, which compares the refs with
// what it was told. If it does not answer, nothing changes.
import { nameOf, type Requester } from "../../base/access/caller.ts";
import { decodeText, encodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { isNullOid, toHex } from "../../base/format/oid.ts";
import { ANSWER_LIFE_MS } from "../../contract/registry.ts";
import type { PushRequest } from "../state/push.ts";
import type { RefCommand } from "../../contract/push.ts";
import type { RepositoryPlatform } from "../state/repository-platform.ts";
import type { NewCommits } from "./new-commits.ts";

/** How long the policy may take (ms): a change waits for it. */
const POLICY_MS = 5_000;

/** Characters of a reason that a client is told. */
const MAX_REASON_CHARS = 1_000;

/** What the policy is asked, as JSON. */
export interface PolicyQuestion {
  /** `names`: before the objects are read. `commits`: before the refs move. */
  readonly stage: "names" | "commits";
  readonly repository: { readonly id: string; readonly owner: string | null; readonly name: string | null };
  /** `name` null: access is open. */
  readonly caller: { readonly name: string | null; readonly right: string };
  readonly pushOptions: readonly string[];
  readonly changes: readonly PolicyChange[];
}

/** A change that the policy is asked about. Ids in hex; null: absent. In stage `commits` with what
 * it would make reachable. */
interface PolicyChange extends Partial<NewCommits> {
  readonly ref: string;
  readonly old: string | null;
  readonly new: string | null;
}

/** What it answers, as JSON. With `final` it need not see the commits. Without `refs`, `reason`
 * denies all of them. */
export type PolicyAnswer =
  | { readonly allow: true; readonly final?: boolean }
  | { readonly allow: false; readonly reason?: string; readonly refs?: Readonly<Record<string, string>> };

/** Why refs may not change, by name; byte strings. */
export type DeniedRefs = ReadonlyMap<string, string>;

/** Changes of one author. */
interface AskedChanges {
  readonly requester: Requester;
  readonly commands: readonly RefCommand[];
}

/** An answer that has been checked. */
interface Verdict {
  readonly denied: DeniedRefs;
  readonly isFinal: boolean;
}

/** The policy's answers about one push. */
export class PolicyCheck {
  readonly #platform: RepositoryPlatform;
  readonly #request: Pick<PushRequest, "commands" | "pushOptions" | "requester" | "steps" | "upload">;
  #denied = new Map<string, string>();
  #isFinal = false;
  #askedMs = 0;
  #hasShown = false;

  constructor(platform: RepositoryPlatform, request: PushRequest) {
    this.#platform = platform;
    this.#request = request;
  }

  /** What it has denied. */
  get denied(): DeniedRefs {
    return this.#denied;
  }

  /** Whether there is one that must be asked: a step of an upload moves no ref. */
  get isAsked(): boolean {
    return this.#platform.outside.askPolicy !== null && this.#request.upload?.isStep !== true;
  }

  /** Asks the policy by names.
   * @throws GitError "unavailable" when it does not answer */
  async askByNames(): Promise<void> {
    const verdicts = await this.#ask("names", null);
    this.#isFinal = verdicts.every(({ isFinal }) => isFinal);
  }

  /** Asks the policy once more, unless it was asked so a moment ago.
   * @param tell tells what each change would make reachable
   * @throws GitError "unavailable" when it does not answer, and as `tell` */
  async askByCommits(tell: (commands: readonly RefCommand[]) => Promise<NewCommits[]>): Promise<void> {
    const isRecent = Date.now() - this.#askedMs < ANSWER_LIFE_MS;
    if (isRecent && (this.#isFinal || this.#hasShown)) return;
    if (this.#isFinal) await this.#ask("names", null);
    else await this.#ask("commits", await tell(this.#asked().flatMap(({ commands }) => commands)));
    this.#hasShown = true;
  }

  /** @param told of each change, in order; null: nothing is told */
  async #ask(stage: PolicyQuestion["stage"], told: readonly NewCommits[] | null): Promise<Verdict[]> {
    this.#askedMs = Date.now();
    let at = 0;
    const questions = this.#asked().map((one) => {
      const changes = one.commands.map((command) => ({ ...describeChange(command), ...told?.[at++] }));
      return askPolicy(this.#platform, one, { stage, changes, pushOptions: this.#request.pushOptions.map(decodeText) });
    });
    const verdicts = await Promise.all(questions);
    for (const { denied } of verdicts) for (const [name, reason] of denied) this.#denied.set(name, reason);
    return verdicts;
  }

  /** What is to be asked, by author: steps are changes of their own. */
  #asked(): AskedChanges[] {
    const { commands, requester, steps } = this.#request;
    const [{ name }] = commands as [RefCommand];
    const asked = steps?.map((step) => ({ requester: step.requester, commands: [{ ...step, name }] }));
    return asked ?? [{ requester, commands: commands.filter((command) => !this.#denied.has(command.name)) }];
  }
}

/** Whether an error says that the policy did not answer. */
export function isPolicyFailure({ code, data }: GitError): boolean {
  return code === "unavailable" && data.subject === "policy";
}

async function askPolicy(
  platform: RepositoryPlatform,
  { requester, commands }: AskedChanges,
  question: Pick<PolicyQuestion, "stage" | "changes" | "pushOptions">,
): Promise<Verdict> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not answer within ${POLICY_MS / 1_000} seconds`)), POLICY_MS);
  });
  const ask = async (): Promise<Verdict> => {
    const who = nameOf(requester.caller);
    const name = await platform.registry.nameOf(platform.id);
    const { stage, changes, pushOptions } = question;
    const asked: PolicyQuestion = {
      stage,
      repository: { id: platform.id, owner: name?.owner ?? null, name: name?.name ?? null },
      caller: { name: who && decodeText(who), right: requester.right },
      pushOptions,
      changes,
    };
    const answer = await platform.outside.askPolicy!(JSON.stringify(asked));
    if (answer.status !== 200) throw new Error(`it answered ${answer.status}`);
    return readAnswer((await answer.json()) as Partial<PolicyAnswer> | null, commands);
  };
  try {
    return await Promise.race([ask(), late]);
  } catch (cause) {
    const reason = `${(cause as Error).message}; nothing has changed`;
    throw new GitError("unavailable", { subject: "policy", reason }, { cause });
  } finally {
    clearTimeout(timer);
  }
}

function describeChange({ name, old, new: to }: RefCommand): Pick<PolicyChange, "ref" | "old" | "new"> {
  const hexOf = (oid: Uint8Array): string | null => (isNullOid(oid) ? null : toHex(oid));
  return { ref: decodeText(name), old: hexOf(old), new: hexOf(to) };
}

/** @throws Error for an answer that is none */
function readAnswer(answer: Partial<PolicyAnswer> | null, commands: readonly RefCommand[]): Verdict {
  if (answer?.allow === true) return { denied: new Map(), isFinal: answer.final === true };
  if (answer?.allow !== false) throw new Error("its answer is neither to allow nor to deny");
  const { reason = "denied", refs } = answer;
  const denied = new Map<string, string>();
  for (const { name } of commands) {
    const text = refs === undefined ? reason : refs[decodeText(name)];
    if (text !== undefined) denied.set(name, encodeText(`policy: ${String(text).slice(0, MAX_REASON_CHARS)}`));
  }
  if (denied.size === 0) throw new Error("it denies refs that do not change");
  return { denied, isFinal: false };
}
