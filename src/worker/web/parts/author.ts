// The author of commits made through forms. The browser remembers the last name and address for the
// visitor who is signed in.
import { getCookie, setCookie } from "hono/cookie";
import { encodeText } from "../../../base/format/byte-string.ts";
import { type Ident, isPersonText, MAX_PERSON_TEXT } from "../../../base/format/ident.ts";
import type { Faults } from "./fields.tsx";
import { textOf } from "./forms.ts";
import type { PageContext, Visitor } from "./web-env.ts";

/** Name and address of a person, as text. */
export interface Author {
  readonly name: string;
  readonly email: string;
}

const COOKIE = "holdfast-author";

const KEPT_SECONDS = 30 * 86_400;

/** Reads the visitor's last author; else returns the token's name. */
export async function lastAuthor(context: PageContext): Promise<Author> {
  const visitor = await context.get("host").visitor();
  const [who, name, email] = (getCookie(context, COOKIE) ?? "").split("\n");
  if (who === idOf(visitor) && isPersonText(name ?? "") && isPersonText(email ?? ""))
    return { name: name!, email: email! };
  return { name: visitor.kind === "signed-in" && visitor.id !== "operator" ? visitor.name : "", email: "" };
}

/** Stores the author in a cookie. */
export async function keepAuthor(context: PageContext, { name, email }: Author): Promise<void> {
  const who = idOf(await context.get("host").visitor());
  const secure = new URL(context.req.url).protocol === "https:";
  setCookie(context, COOKIE, [who, name, email].join("\n"), {
    path: "/",
    maxAge: KEPT_SECONDS,
    httpOnly: true,
    sameSite: "Lax",
    secure,
  });
}

export function readAuthor(form: FormData | URLSearchParams): Author {
  return { name: textOf(form, "author").trim(), email: textOf(form, "email").trim() };
}

/** Finds the faults of an author. */
export function checkAuthor({ name, email }: Author): Faults {
  const fault = `1 to ${MAX_PERSON_TEXT} characters, without <, > and control characters.`;
  return { ...(!isPersonText(name) && { author: fault }), ...(!isPersonText(email) && { email: fault }) };
}

/** Makes the identity of a commit's author, with the current time. */
export function toIdent({ name, email }: Author): Ident {
  const timeSeconds = Math.floor(Date.now() / 1000);
  return { name: encodeText(name), email: encodeText(email), timeSeconds, zone: "+0000" };
}

function idOf(visitor: Visitor): string {
  return visitor.kind === "signed-in" ? visitor.id : visitor.kind;
}
