import {
  MAX_ALLOWED_TOKENS,
  MAX_CONTEXT_CHARS,
  MAX_PATTERN_BYTES,
  MAX_PROTECTED,
  MAX_REQUIRED_CONTEXTS,
  type ProtectedRefs,
} from "../../../base/access/ref-rules.ts";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { Choice, type Faults, FaultNote, NO_FAULTS, TextArea, TextField } from "../parts/fields.tsx";
import { invalid, type Refusal } from "../parts/form-faults.ts";
import { readForm, textOf } from "../parts/forms.ts";
import { patternFault } from "../parts/ref-pattern.ts";
import { settingsUrl, showSettings } from "../parts/settings-frame.tsx";
import type { PageContext } from "../parts/web-env.ts";

const MAX_FORM_BYTES = 1024 * 1024;

/** Empty rules at the end of the form. */
const SPARE_RULES = 2;

/** A rule, as typed. */
interface TypedRule {
  readonly pattern: string;
  readonly noForce: boolean;
  readonly noDelete: boolean;
  readonly fastForwardOnly: boolean;
  /** Ids separated by blanks; "": everyone with the right to write. */
  readonly tokens: string;
  /** Contexts, one per line. */
  readonly checks: string;
}

const NO_RULE: TypedRule = {
  pattern: "",
  noForce: false,
  noDelete: false,
  fastForwardOnly: false,
  tokens: "",
  checks: "",
};

/** The prohibitions of a rule, with their labels. */
const FLAGS = [
  ["noForce", "No forced push"],
  ["noDelete", "No deletion"],
  ["fastForwardOnly", "Fast-forward only, tags too"],
] as const;

/** `/{owner}/{repo}/settings/protected`: rules for refs. */
export async function protectedPage(context: PageContext): Promise<Response> {
  const rules = await context.get("repository").protectedRefs();
  return showForm(context, rules.map(toTyped), null);
}

/** `POST /{owner}/{repo}/settings/protected`: replaces all rules. Rules without a pattern are
 * removed. */
export async function saveProtected(context: PageContext): Promise<Response> {
  const typed = readRules(await readForm(context.req.raw, MAX_FORM_BYTES));
  const { owner, name } = context.get("place");
  const faults: Record<string, string> = {};
  if (typed.length > MAX_PROTECTED) faults[""] = `There are at most ${MAX_PROTECTED} rules.`;
  for (const [i, { pattern, tokens, checks }] of typed.entries()) {
    const found = { [`pattern-${i}`]: patternFault(pattern), [`checks-${i}`]: contextsFault(linesIn(checks)) };
    for (const [name, fault] of Object.entries(found)) if (fault !== null) faults[name] = fault;
    const ids = idsIn(tokens);
    if (ids.length > MAX_ALLOWED_TOKENS) faults[`tokens-${i}`] = `At most ${MAX_ALLOWED_TOKENS}.`;
    else if (ids.length > 0) {
      const unknown = await context.get("host").tokens.findUnknown({ owner, repository: name }, ids);
      if (unknown.length > 0) faults[`tokens-${i}`] = `No token for this repository has the id ${unknown[0]}.`;
    }
  }
  if (Object.keys(faults).length > 0) return showForm(context, typed, invalid(faults));
  await context.get("repository").configureProtectedRefs(typed.map(toRule));
  return context.redirect(settingsUrl(context, "protected"), 303);
}

function readRules(form: URLSearchParams): TypedRule[] {
  const rules: TypedRule[] = [];
  for (let i = 0; form.has(`pattern-${i}`) && i < MAX_PROTECTED + SPARE_RULES; i++) {
    const pattern = textOf(form, `pattern-${i}`).trim();
    if (pattern === "") continue;
    const [noForce, noDelete, fastForwardOnly] = FLAGS.map(([flag]) => form.has(`${flag}-${i}`));
    const tokens = textOf(form, `tokens-${i}`).trim();
    const checks = textOf(form, `checks-${i}`).trim();
    rules.push({ pattern, noForce: noForce!, noDelete: noDelete!, fastForwardOnly: fastForwardOnly!, tokens, checks });
  }
  return rules;
}

function idsIn(tokens: string): string[] {
  return tokens.split(/[\s,]+/).filter((id) => id !== "");
}

function contextsFault(contexts: readonly string[]): string | null {
  if (contexts.length > MAX_REQUIRED_CONTEXTS) return `At most ${MAX_REQUIRED_CONTEXTS}.`;
  const isWrong = (one: string): boolean => one.length > MAX_CONTEXT_CHARS || /\p{Cc}/u.test(one);
  return contexts.some(isWrong) ? `Each has at most ${MAX_CONTEXT_CHARS} characters, and no control characters.` : null;
}

function linesIn(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "");
}

function toRule({ pattern, tokens, checks, ...flags }: TypedRule): ProtectedRefs {
  const ids = idsIn(tokens);
  const allowedTokens = ids.length === 0 ? null : ids;
  return { ...flags, pattern: encodeText(pattern), allowedTokens, requiredContexts: linesIn(checks) };
}

function toTyped({ pattern, allowedTokens, requiredContexts, ...flags }: ProtectedRefs): TypedRule {
  const tokens = (allowedTokens ?? []).join(" ");
  return { ...flags, pattern: decodeText(pattern), tokens, checks: requiredContexts.join("\n") };
}

function showForm(context: PageContext, rules: readonly TypedRule[], refused: Refusal | null): Promise<Response> {
  const faults = refused?.faults ?? NO_FAULTS;
  const spare = Math.max(0, Math.min(SPARE_RULES, MAX_PROTECTED - rules.length));
  const shown = [...rules, ...Array<TypedRule>(spare).fill(NO_RULE)];
  const labels = Object.fromEntries(
    shown.flatMap((_, i) => [
      [`pattern-${i}`, "Refs"],
      [`tokens-${i}`, "Only these tokens"],
      [`checks-${i}`, "Required checks"],
    ]),
  );
  return showSettings(context, "protected", {
    status: refused?.status ?? 200,
    children: (
      <form class="narrow" method="post" action={settingsUrl(context, "protected")}>
        <p>
          Each rule binds everyone, and all that match a ref apply. <code>*</code> matches within a part of a name,
          <code> **</code> across slashes, too. A rule whose refs you empty is removed.
        </p>
        <FaultNote faults={faults} labels={labels} />
        {shown.map((rule, i) => (
          <Rule rule={rule} index={i} faults={faults} isNew={i >= rules.length} />
        ))}
        <p>
          <button class="main">Save</button>
        </p>
      </form>
    ),
  });
}

function Rule({ rule, index, faults, isNew }: { rule: TypedRule; index: number; faults: Faults; isNew: boolean }) {
  return (
    <fieldset class="box padded">
      <legend>{isNew ? "A new rule" : `Rule ${index + 1}`}</legend>
      <TextField
        name={`pattern-${index}`}
        label="Refs"
        faults={faults}
        value={rule.pattern}
        maxlength={MAX_PATTERN_BYTES}
        placeholder="refs/heads/main"
        spellcheck={false}
      />
      {FLAGS.map(([flag, words]) => (
        <Choice type="checkbox" name={`${flag}-${index}`} value="yes" isChosen={rule[flag]}>
          {words}
        </Choice>
      ))}
      <TextField
        name={`tokens-${index}`}
        label="Only these tokens"
        faults={faults}
        value={rule.tokens}
        spellcheck={false}
        hint="Ids, with blanks between them. Admins may always; without ids everyone may who may write."
      />
      <TextArea
        name={`checks-${index}`}
        label="Required checks"
        faults={faults}
        text={rule.checks}
        rows={2}
        spellcheck={false}
        hint="One a line, such as ci/tests. A commit is merged or cherry-picked here only when all have succeeded."
      />
    </fieldset>
  );
}
