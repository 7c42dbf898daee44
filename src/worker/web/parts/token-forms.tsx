// Tokens of a repository, or of an owner: a list, a form for a new one, and buttons to revoke them.
import { MAX_TOKEN_NAME, type Token } from "../../../base/access/caller.ts";
import { MAX_TOKEN_RULES } from "../../../base/access/ref-rules.ts";
import { encodeText } from "../../../base/format/byte-string.ts";
import type { TokenService } from "../../shared/deployment.ts";
import { Choice, type Faults, FaultNote, SelectField, TextArea, TextField } from "./fields.tsx";
import { textOf } from "./forms.ts";
import { patternFault } from "./ref-pattern.ts";
import { visibleLine, visibleName } from "./text.ts";
import { Ago, toIso } from "./times.tsx";

type NewToken = Parameters<TokenService["create"]>[1];

/** Maximum number of tokens on a page. */
export const PAGE_TOKENS = 100;

/** Input about a token. */
export interface TypedToken {
  readonly name: string;
  readonly right: Token["right"];
  /** A day, `2030-12-31`; "": it does not expire. */
  readonly expires: string;
  /** Patterns, one per line; "": all refs. */
  readonly refs: string;
  readonly noForce: boolean;
  readonly noDelete: boolean;
}

export const NEW_TOKEN: TypedToken = {
  name: "",
  right: "read",
  expires: "",
  refs: "",
  noForce: false,
  noDelete: false,
};

const RIGHTS = { read: "Read", write: "Write", admin: "Administer" } as const;

const LABELS = {
  name: "What it is for",
  right: "What it may do",
  expires: "Last day",
  refs: "Only these refs",
} as const;

/** Reads the input of a form. */
export function readTypedToken(form: URLSearchParams): TypedToken {
  const right = textOf(form, "right");
  return {
    name: textOf(form, "name").trim(),
    right: right === "write" || right === "admin" ? right : "read",
    expires: textOf(form, "expires").trim(),
    refs: textOf(form, "refs").replaceAll("\r\n", "\n").trim(),
    noForce: form.has("noForce"),
    noDelete: form.has("noDelete"),
  };
}

/** Finds the faults of an input. */
export function checkTypedToken({ name, right, expires, refs }: TypedToken): Faults {
  const patterns = patternsIn(refs);
  const badPattern = patterns.map(patternFault).find((fault) => fault !== null);
  const refFault =
    patterns.length === 0
      ? undefined
      : right !== "write"
        ? "Only a token that may write can be limited to refs."
        : patterns.length > MAX_TOKEN_RULES
          ? `At most ${MAX_TOKEN_RULES}.`
          : badPattern;
  return {
    ...((name === "" || name.length > MAX_TOKEN_NAME) && { name: `1 to ${MAX_TOKEN_NAME} characters.` }),
    ...(expires !== "" && endOf(expires) === null && { expires: "Write a day, such as 2030-12-31." }),
    ...(refFault !== undefined && { refs: refFault }),
  };
}

/** Makes the description of the new token. */
export function toNewToken({ name, right, expires, refs, noForce, noDelete }: TypedToken): NewToken {
  const patterns = patternsIn(refs);
  return {
    name,
    right,
    refs:
      patterns.length === 0 ? null : patterns.map((pattern) => ({ pattern: encodeText(pattern), noForce, noDelete })),
    expiresMs: expires === "" ? null : endOf(expires),
  };
}

/** Fields of the form, by the names in failures. */
export const TOKEN_FIELDS = { expiresAt: "expires", name: "name", refs: "refs" } as const;

function patternsIn(refs: string): string[] {
  return refs.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
}

/** Returns the end of a day in UTC (ms since 1970); null: not a day. */
function endOf(day: string): number | null {
  const startMs = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(startMs) ? null : startMs + 86_400_000 - 1_000;
}

/** A form for a new token. @param action URL of the list */
export function NewTokenForm({ action, typed, faults }: { action: string; typed: TypedToken; faults: Faults }) {
  return (
    <form class="narrow" method="post" action={action}>
      <h3>A new token</h3>
      <FaultNote faults={faults} labels={LABELS} />
      <TextField
        name="name"
        label={LABELS.name}
        faults={faults}
        value={typed.name}
        maxlength={MAX_TOKEN_NAME}
        required
      />
      <div class="columns">
        <SelectField name="right" label={LABELS.right} faults={faults} value={typed.right} choices={RIGHTS} />
        <TextField
          name="expires"
          label={LABELS.expires}
          faults={faults}
          type="date"
          value={typed.expires}
          hint="In UTC. Without a day it is valid until it is revoked."
        />
      </div>
      <TextArea
        name="refs"
        label={LABELS.refs}
        faults={faults}
        text={typed.refs}
        rows={2}
        spellcheck={false}
        hint="One pattern a line, such as refs/heads/ci/**. For a token that may write."
      />
      <Choice type="checkbox" name="noForce" value="yes" isChosen={typed.noForce}>
        No forced push there
      </Choice>
      <Choice type="checkbox" name="noDelete" value="yes" isChosen={typed.noDelete}>
        No deletion there
      </Choice>
      <p>
        <button class="main">Make a token</button>
      </p>
    </form>
  );
}

/** A list of tokens, each with a button that revokes it.
 * @param action URL of the list
 * @param own id of the token that the visitor signed in with */
export function TokenList({ tokens, action, own }: { tokens: readonly Token[]; action: string; own: string | null }) {
  if (tokens.length === 0) return <p>There are none.</p>;
  return (
    <ul class="repos">
      {tokens.map((token) => (
        <li>
          <form class="head-row" method="post" action={`${action}/revoke`}>
            <div>
              <strong>
                <bdi>{visibleLine(token.name)}</bdi>
              </strong>{" "}
              <span class="badge">{RIGHTS[token.right]}</span> {token.id === own && <span class="badge">yours</span>}
              <p class="muted">
                <Describe token={token} />
              </p>
            </div>
            <input type="hidden" name="id" value={token.id} />
            <button aria-label={`Revoke ${visibleLine(token.name)}`}>Revoke</button>
          </form>
        </li>
      ))}
    </ul>
  );
}

function Describe({ token: { id, createdMs, expiresMs, lastUsedMs, refs } }: { token: Token }) {
  const nowMs = Date.now();
  return (
    <>
      made <Ago iso={toIso(createdMs)} nowMs={nowMs} />
      {lastUsedMs !== null && (
        <>
          , used <Ago iso={toIso(lastUsedMs)} nowMs={nowMs} />
        </>
      )}
      {expiresMs !== null && (
        <>
          , {expiresMs <= nowMs ? "expired " : "expires "}
          <Ago iso={toIso(expiresMs)} nowMs={nowMs} />
        </>
      )}
      {refs !== null && (
        <>
          , for <code>{refs.map(({ pattern }) => visibleName(pattern)).join(" ")}</code>
        </>
      )}
      <br />
      <code>{id}</code>
    </>
  );
}
