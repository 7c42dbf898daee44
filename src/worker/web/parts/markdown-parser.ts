// Markdown to HTML that nobody has checked yet, with a bound on the work that one text may cause.
// The parser has none of its own: some kilobytes can take seconds, or make megabytes. So rules that
// never match are put before its own, and count how often these are tried.
import MarkdownIt, { type Token } from "markdown-it";
import type { StepBudget } from "../../../base/format/step-budget.ts";

/** What one text may cost, in steps of about a microsecond: reading it, its links, the colours of
 * its code, its elements. A text of 600 KB of a changelog takes some 400,000. */
export const MAX_MARKDOWN_STEPS = 1_000_000;

/** Steps of the rules that are tried at a line's beginning, and at a char that may be markup. */
const STEPS_PER_BLOCK = 1;
const STEPS_PER_INLINE = 4;

/** Chars of the result that cost a step. A reference's address is repeated by each of its links. */
const CHARS_PER_STEP = 16;

/** Chars of an address that is searched for in a text: longer ones are none. */
const MAX_ADDRESS_CHARS = 2_000;

/** Chars of such an address that cost a step, if each is looked at. */
const LOOKS_PER_STEP = 32;

/** Writes Markdown with GitHub's extensions as HTML. */
export class MarkdownParser {
  readonly #parser = new MarkdownIt({ html: true, linkify: true });
  #budget: StepBudget | null = null;

  constructor() {
    const { block, inline, core, linkify } = this.#parser;
    const alt = ["paragraph", "reference", "blockquote", "list"];
    block.ruler.before("table", "count", () => this.#spend(STEPS_PER_BLOCK), { alt });
    inline.ruler.before("text", "count", () => this.#spend(STEPS_PER_INLINE));
    core.ruler.push("count", ({ tokens }) => void this.#spend(countChars(tokens) / CHARS_PER_STEP));
    // `example.md` is a file, not a site, and `//` begins a comment.
    linkify.set({ fuzzyLink: false, maxLength: MAX_ADDRESS_CHARS });
    linkify.add("//", null);
    for (const scheme of ["http:", "https:", "ftp:"])
      linkify.add(scheme, { validate: (text, at, { re }) => this.#look(re.get_http_validator(), text, at) });
    linkify.add("mailto:", { validate: (text, at, { re }) => this.#look(re.get_mailto_validator(), text, at) });
  }

  /** @throws GitError "too-large" when the budget is spent */
  render(text: string, budget: StepBudget): string {
    this.#budget = budget;
    try {
      return this.#parser.render(text);
    } finally {
      this.#budget = null;
    }
  }

  /** @returns false: as a rule, it does not match */
  #spend(steps: number): false {
    this.#budget?.spend(steps);
    return false;
  }

  /** How long an address is behind its scheme; 0: it is none.
   * @param pattern of the rest of an address, sticky */
  #look(pattern: RegExp, text: string, at: number): number {
    this.#spend(Math.min(text.length - at, MAX_ADDRESS_CHARS) / LOOKS_PER_STEP);
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0].length ?? 0;
  }
}

/** Chars that tokens are written as, about. */
function countChars(tokens: readonly Token[]): number {
  let chars = 0;
  for (const { content, attrs, children } of tokens) {
    chars += children === null ? content.length : countChars(children);
    for (const [, value] of attrs ?? []) chars += String(value).length;
  }
  return chars;
}
