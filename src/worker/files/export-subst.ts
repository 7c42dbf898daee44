import { fromByteString, toByteString } from "../../base/format/byte-string.ts";
import { type Commit, parseCommit } from "../../base/format/commit.ts";
import { type Ident, LAST_SECONDS, toIsoDate } from "../../base/format/ident.ts";
import { MAX_SUBST_BYTES } from "../../base/format/limits.ts";
import { toHex } from "../../base/format/oid.ts";
import type { ArchivedCommit } from "../../contract/files.ts";

/** Expands each `$Format:…$` of a file, as `git archive` does where `export-subst` is set. A mark
 * with an unsupported placeholder stays as it is; so do all marks of a file that would grow by more
 * than `MAX_SUBST_BYTES`.
 * @see gitattributes(5) "export-subst", git's archive.c: format_subst() */
export function expandFormats(content: Uint8Array, archived: ArchivedCommit): Uint8Array {
  const text = toByteString(content);
  if (!text.includes("$Format:")) return content;
  const values = new CommitValues(archived);
  let grownBytes = 0;
  const expanded = text.replace(/\$Format:([^$]*)\$/g, (mark, format: string) => {
    const value = grownBytes > MAX_SUBST_BYTES ? null : values.expand(format, MAX_SUBST_BYTES - grownBytes);
    grownBytes += value?.length ?? 0;
    return value ?? mark;
  });
  return grownBytes > MAX_SUBST_BYTES ? content : fromByteString(expanded);
}

/** A placeholder that the commit alone determines. `%d`, `%D` and `%(describe)` are not among them,
 * since they change with the refs; nor `%ar`, which changes with the time; nor `%aN`, which depends
 * on the mailmap of HEAD; nor notes, signatures, trailers, colors and padding. */
const PLACEHOLDER = /%(?:([HhTtPpesfbBn%])|([ac])([neldDtiIs])|x([0-9a-fA-F]{2}))|%/g;

class CommitValues {
  readonly #archived: ArchivedCommit;
  readonly #commit: Commit;
  readonly #message: string;
  /** The message after its subject. */
  readonly #body: string;
  readonly #subject: string;

  constructor(archived: ArchivedCommit) {
    this.#archived = archived;
    this.#commit = parseCommit(archived.content);
    this.#message = toByteString(this.#commit.message);
    const text = skipBlankLines(this.#message);
    const end = /\n[ \t\r\f\v]*(?:\n|$)/.exec(text)?.index ?? text.length;
    const lines = text.slice(0, end).split("\n");
    this.#subject = lines.map((line) => line.replace(/[ \t\r\f\v]+$/, "")).join(" ");
    this.#body = skipBlankLines(text.slice(end));
  }

  /** @returns null for a format that is not expanded */
  expand(format: string, limitBytes: number): string | null {
    let isKnown = true;
    let sizeBytes = 0;
    const [start] = format.split("\0", 1);
    const expanded = start!.replace(PLACEHOLDER, (_, plain?: string, who?: string, field?: string, hex?: string) => {
      const value = sizeBytes > limitBytes ? "" : this.#valueOf(plain, who, field, hex);
      isKnown &&= value !== null;
      sizeBytes += value?.length ?? 0;
      return value ?? "";
    });
    return isKnown ? expanded : null;
  }

  #valueOf(plain?: string, who?: string, field?: string, hex?: string): string | null {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (who !== undefined) return personField(who === "a" ? this.#commit.author : this.#commit.committer, field!);
    const { oid, abbreviated } = this.#archived;
    const { tree, parents, extraHeaders } = this.#commit;
    const short = (id: string): string | null => abbreviated[id] ?? null;
    const hexes = parents.map((parent) => toHex(parent));
    switch (plain) {
      case "H":
        return oid;
      case "h":
        return short(oid);
      case "T":
        return toHex(tree);
      case "t":
        return short(toHex(tree));
      case "P":
        return hexes.join(" ");
      case "p":
        return hexes.every((id) => short(id) !== null) ? hexes.map(short).join(" ") : null;
      case "e":
        return extraHeaders.find(({ name }) => name === "encoding")?.value ?? "";
      case "s":
        return this.#subject;
      case "f":
        return sanitize(skipBlankLines(this.#message).split("\n", 1)[0]!);
      case "b":
        return this.#body;
      case "B":
        return this.#message;
      case "n":
        return "\n";
      case "%":
        return "%";
      default:
        return null;
    }
  }
}

/** @see git's pretty.c: format_person_part() */
function personField({ name, email, timeSeconds, zone }: Ident, field: string): string | null {
  if (field === "n") return name;
  if (field === "e") return email;
  if (field === "l") return email.split("@", 1)[0]!;
  // A larger value was written with digits that a number cannot hold.
  if (field === "t") return timeSeconds < Number.MAX_SAFE_INTEGER ? `${timeSeconds}` : null;
  // Git shows years above 9999, which ISO 8601 does not have.
  if (timeSeconds > LAST_SECONDS) return null;
  // For other zones git shows a meaningless time.
  if (!/^[+-](?:[01]\d|2[0-3])[0-5]\d$/.test(zone)) return null;
  const iso = toIsoDate(timeSeconds, zone);
  const [date, time] = [iso.slice(0, 10), iso.slice(11, 19)];
  const [, weekday, day, month, year] = /^(\w+), 0?(\d+) (\w+) (\d+)/.exec(
    new Date(`${date}T00:00:00Z`).toUTCString(),
  )!;
  switch (field) {
    case "d":
      return `${weekday} ${month} ${day} ${time} ${year} ${zone}`;
    case "D":
      return `${weekday}, ${day} ${month} ${year} ${time} ${zone}`;
    case "i":
      return `${date} ${time} ${zone}`;
    case "I":
      // As git since 2.45; older versions write +00:00.
      return `${date}T${time}${Number(zone) === 0 ? "Z" : iso.slice(19)}`;
    default:
      return date;
  }
}

/** @see skip_blank_lines() in git's pretty.c */
function skipBlankLines(text: string): string {
  const start = /[^ \t\r\f\v\n]/.exec(text)?.index;
  return start === undefined ? "" : text.slice(text.lastIndexOf("\n", start) + 1);
}

/** @see format_sanitized_subject() in git's pretty.c */
function sanitize(line: string): string {
  return line
    .replace(/\.{2,}/g, ".")
    .replace(/[^A-Za-z0-9._]+/g, "-")
    .replace(/^-/, "")
    .replace(/[.-]+$/, "");
}
