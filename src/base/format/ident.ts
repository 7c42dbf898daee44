import { GitError } from "./errors.ts";

/** A person and a time: the value of `author`, `committer` and `tagger`. */
export interface Ident {
  /** Byte string; may be empty. */
  readonly name: string;
  /** Byte string, without the angle brackets; may be empty. */
  readonly email: string;
  /** Seconds since 1970, UTC. */
  readonly timeSeconds: number;
  /** Offset from UTC as written: "+hhmm" or "-hhmm". */
  readonly zone: string;
}

const PERSON = /^([^<]*)<([^>]*)>/;
const DATE = /^ *(\d+)(?: +([+-]\d+))?/;
/** @see git's ctype.c: isspace() */
const BLANKS = " \t\n\r";
const UNWRITABLE = /[<>\n\0]/;
/** Characters that a request's identity must not contain. */
// oxlint-disable-next-line no-control-regex -- these characters are refused.
const UNTYPEABLE = /[<>\u0000-\u001f\u007f]/;

/** Parses an identity as leniently as git. An identity that fsck accepts by default (a bad zone, no
 * space before the date) still yields a name, an email and the readable part of the date, else
 * 1970 in UTC.
 * @param line byte string
 * @returns null if there is no email in angle brackets */
export function parseIdent(line: string): Ident | null {
  const person = PERSON.exec(line);
  if (person === null) return null;
  const date = DATE.exec(line.slice(line.lastIndexOf(">") + 1));
  return {
    name: trimBlanksEnd(person[1]!),
    email: person[2]!,
    timeSeconds: Math.min(Number(date?.[1] ?? 0), Number.MAX_SAFE_INTEGER),
    zone: date?.[2] ?? "+0000",
  };
}

/** Length limit of a person's name or email in a request, in characters. */
export const MAX_PERSON_TEXT = 1_000;

/** Whether a request may have this text as a person's name or email. */
export function isPersonText(text: string): boolean {
  return text.length <= MAX_PERSON_TEXT && text.isWellFormed() && text.trim() !== "" && !UNTYPEABLE.test(text);
}

/** Encodes an identity as a byte string.
 * @throws GitError "bad-request" if it would not parse back to the same: angle brackets, LF or NUL
 * in name or email, a time that is not a whole second from 1970 on, a zone that is not a sign and
 * four digits */
export function encodeIdent(ident: Ident): string {
  const { name, email, timeSeconds, zone } = ident;
  if (UNWRITABLE.test(name)) throw unwritable("name", name);
  if (UNWRITABLE.test(email)) throw unwritable("email", email);
  if (!Number.isSafeInteger(timeSeconds) || timeSeconds < 0) throw unwritable("time", timeSeconds);
  if (!/^[+-]\d{4}$/.test(zone)) throw unwritable("zone", zone);
  return `${name} <${email}> ${timeSeconds} ${zone}`;
}

/** Removes trailing whitespace. A regular expression would rescan a run of whitespace from each of
 * its bytes.
 * @param text byte string, in which other bytes that Unicode calls whitespace are parts of
 *   letters */
export function trimBlanksEnd(text: string): string {
  let end = text.length;
  while (end > 0 && BLANKS.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

function unwritable(part: string, actual: string | number): GitError {
  return new GitError("bad-request", { reason: `${JSON.stringify(actual)} cannot be an identity's ${part}` });
}

/** The last second with a four-digit year in ISO 8601, with a margin for the offset. */
export const LAST_SECONDS = Date.UTC(9999, 11, 30) / 1_000;

/** Writes a time as ISO 8601. Values that git cannot show either become 1970 (a time too far off)
 * or UTC (a zone of a day or more).
 * @param zone "+hhmm" or "-hhmm"
 * @see git's date.c: show_date() */
export function toIsoDate(timeSeconds: number, zone: string): string {
  const [, sign, hours, minutes] = /^([+-])(\d\d)([0-5]\d)$/.exec(zone) ?? ["", "+", "00", "00"];
  const isZone = Number(hours) < 24;
  const offsetSeconds = isZone ? Number(`${sign}1`) * (Number(hours) * 3_600 + Number(minutes) * 60) : 0;
  const local = new Date(((timeSeconds > LAST_SECONDS ? 0 : timeSeconds) + offsetSeconds) * 1_000);
  return local.toISOString().slice(0, 19) + (isZone ? `${sign}${hours}:${minutes}` : "+00:00");
}
