import { type ObjectFilter, parseFilter } from "../../base/format/filter.ts";
import type { Limits } from "../../base/format/configured-limits.ts";
import { MAX_REF_NAME_BYTES } from "../../base/format/limits.ts";
import { isHexOid } from "../../base/format/oid.ts";
import { type Deepen, type FetchRequest, INFINITE_DEPTH } from "../../contract/fetch.ts";
import { OidList } from "./fetch-arguments.ts";
import type { Refusal } from "./request-lines.ts";

/** The lines of a fetch about the client's shallow boundary, the wanted depth and the object
 * filter. They are the same in all protocol versions.
 * @see gitprotocol-pack(5) "Packfile Negotiation", gitprotocol-v2(5) "fetch", git's upload-pack.c:
 * process_deepen() and the functions beside it */
export class CutArguments {
  readonly #shallows: OidList;
  readonly #maxNots: number;
  #depth: number | null = null;
  #since: number | null = null;
  readonly #nots: string[] = [];
  #filter: ObjectFilter | null = null;

  constructor({ maxShallows, maxDeepenNots }: Limits) {
    this.#shallows = new OidList(maxShallows);
    this.#maxNots = maxDeepenNots;
  }

  /** Accepts a line.
   * @returns undefined when it is none of these lines */
  accept(line: string): Refusal | undefined {
    const [, keyword, value = ""] = /^(shallow|deepen|deepen-since|deepen-not|filter) (.*)$/s.exec(line) ?? [];
    switch (keyword) {
      case "shallow":
        return isHexOid(value) ? this.#shallows.add(value) : `upload-pack: invalid shallow line: ${line}`;
      case "deepen":
        this.#depth = parseCount(value, INFINITE_DEPTH);
        return this.#depth === null || this.#depth === 0 ? `upload-pack: invalid deepen: ${line}` : this.#checkDeepen();
      case "deepen-since":
        this.#since = parseCount(value, Number.MAX_SAFE_INTEGER);
        return this.#since === null ? `upload-pack: invalid deepen-since: ${line}` : this.#checkDeepen();
      case "deepen-not":
        // No ref has a longer name, even in short form.
        if (value.length > MAX_REF_NAME_BYTES) return `upload-pack: deepen-not is not a ref: ${line}`;
        if (this.#nots.length === this.#maxNots) return `upload-pack: more than ${this.#maxNots} deepen-not lines`;
        this.#nots.push(value);
        return this.#checkDeepen();
      case "filter":
        return this.#setFilter(value);
      default:
        return undefined;
    }
  }

  /** Builds the request from the lines.
   * @param relative whether the depth counts from the client's shallow boundary: an argument in
   * protocol v2, a capability in earlier versions */
  toRequest(relative: boolean): Pick<FetchRequest, "shallows" | "deepen" | "filter"> {
    return { shallows: this.#shallows.toBytes(), deepen: this.#deepen(relative), filter: this.#filter };
  }

  #deepen(relative: boolean): Deepen | null {
    if (this.#depth !== null) {
      // An infinite depth is the whole history, from any starting point.
      return { kind: relative && this.#depth !== INFINITE_DEPTH ? "relative" : "depth", depth: this.#depth };
    }
    const byRevisions = this.#since !== null || this.#nots.length > 0;
    return byRevisions ? { kind: "revisions", since: this.#since, not: this.#nots } : null;
  }

  #checkDeepen(): Refusal {
    const isTwofold = this.#depth !== null && (this.#since !== null || this.#nots.length > 0);
    return isTwofold ? "upload-pack: deepen and deepen-since (or deepen-not) cannot be used together" : null;
  }

  #setFilter(spec: string): Refusal {
    if (this.#filter !== null) return "upload-pack: multiple filter-specs cannot be combined";
    const filter = parseFilter(spec);
    if (typeof filter === "string") return `upload-pack: ${filter}`;
    this.#filter = filter;
    return null;
  }
}

/** Parses a decimal number. Git also accepts octal and hexadecimal, which no client sends.
 * @returns null unless it is from 0 to `max` */
function parseCount(text: string, max: number): number | null {
  return /^(?:0|[1-9][0-9]{0,15})$/.test(text) && Number(text) <= max ? Number(text) : null;
}
