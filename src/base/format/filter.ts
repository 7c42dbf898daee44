import { MAX_FILTER_BYTES, MAX_SUB_FILTERS } from "./limits.ts";
import { isObjectType, type ObjectType } from "./object.ts";

/** A filter of the objects that a partial clone receives at once. Git fetches the rest on demand.
 * @see git-rev-list(1) "--filter" */
export type ObjectFilter =
  /** No blobs. */
  | { readonly kind: "blob:none" }
  /** No blobs of at least this size. */
  | { readonly kind: "blob:limit"; readonly limitBytes: number }
  /** No trees and blobs at this depth or deeper; a commit's root tree has depth 0. */
  | { readonly kind: "tree"; readonly depth: number }
  /** Only objects of one type. */
  | { readonly kind: "object:type"; readonly type: ObjectType }
  /** Only blobs at paths that a sparse-checkout file includes; `blob` is an id or `<rev>:<path>`,
   * byte string. */
  | { readonly kind: "sparse:oid"; readonly blob: string }
  /** Only objects that pass all of these. */
  | { readonly kind: "combine"; readonly filters: readonly ObjectFilter[] };

/** Parses a filter-spec, as git does.
 * @param spec byte string
 * @returns the filter, or the reason for refusing it, in git's words (byte string)
 * @see git's list-objects-filter-options.c: gently_parse_list_objects_filter() */
export function parseFilter(spec: string): ObjectFilter | string {
  if (spec.length > MAX_FILTER_BYTES) return `filter-spec is longer than ${MAX_FILTER_BYTES} bytes`;
  return parseSpec(spec, { subFilters: MAX_SUB_FILTERS });
}

/** Bytes that must be escaped in a sub-filter of a combined one, along with controls, spaces and
 * non-ASCII bytes. */
const RESERVED = /[\0-\x20~`!@#$^&*()[\]{}\\;'",<>?\x80-\xff]/;

/** A number as C reads it, in base 8, 10 or 16, and its unit.
 * @see strtoumax(3), git's parse.c: git_parse_unsigned() */
const UNSIGNED = /^[\t-\r ]*\+?(?:(0x[0-9a-f]+)|0([0-7]*)|([1-9][0-9]*))([kmg]?)$/i;

const UNITS: Readonly<Record<string, bigint>> = { "": 1n, k: 1n << 10n, m: 1n << 20n, g: 1n << 30n };

/** @param left number of sub-filters still allowed, on all levels */
function parseSpec(spec: string, left: { subFilters: number }): ObjectFilter | string {
  if (spec === "blob:none") return { kind: "blob:none" };
  const [, keyword = "", value = ""] =
    /^(blob:limit=|tree:|object:type=|sparse:oid=|sparse:path=|combine:)(.*)$/s.exec(spec) ?? [];
  switch (keyword) {
    case "blob:limit=": {
      const limitBytes = parseUnsigned(value);
      return limitBytes === null ? `invalid filter-spec '${spec}'` : { kind: "blob:limit", limitBytes };
    }
    case "tree:": {
      const depth = parseUnsigned(value);
      return depth === null ? "expected 'tree:<depth>'" : { kind: "tree", depth };
    }
    case "object:type=":
      return isObjectType(value)
        ? { kind: "object:type", type: value }
        : `'${value}' for 'object:type=<type>' is not a valid object type`;
    case "sparse:oid=":
      return { kind: "sparse:oid", blob: value };
    case "sparse:path=":
      return "sparse:path filters support has been dropped";
    case "combine:":
      return value === "" ? "expected something after combine:" : parseCombined(value.split("+"), left);
    default:
      return `invalid filter-spec '${spec}'`;
  }
}

function parseCombined(subSpecs: readonly string[], left: { subFilters: number }): ObjectFilter | string {
  const filters: ObjectFilter[] = [];
  for (const subSpec of subSpecs) {
    // A stray plus is ignored, as in git from 2.54 on.
    if (subSpec === "") continue;
    if (left.subFilters-- === 0) return `more than ${MAX_SUB_FILTERS} filters combined`;
    const reserved = RESERVED.exec(subSpec);
    if (reserved !== null) return `must escape char in sub-filter-spec: '${reserved[0]}'`;
    const filter = parseSpec(decodePercents(subSpec), left);
    if (typeof filter === "string") return filter;
    filters.push(filter);
  }
  return { kind: "combine", filters };
}

/** Decodes percent-encoding. Invalid escapes stay as they are, and so does `%00`. */
function decodePercents(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (escape, hex: string) =>
    hex === "00" ? escape : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** @returns null unless the text is a number that fits into 64 bits */
function parseUnsigned(text: string): number | null {
  const match = UNSIGNED.exec(text);
  if (match === null) return null;
  const [, hex, octal, decimal, unit = ""] = match;
  const count = BigInt(hex ?? decimal ?? `0o0${octal}`);
  const product = count * UNITS[unit.toLowerCase()]!;
  return product < 1n << 64n ? Number(product) : null;
}
