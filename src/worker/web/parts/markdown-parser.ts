// Converts Markdown to unsanitized HTML, with a bound on the work for one text. The parser has no
// bound of its own: some kilobytes can take seconds, or make megabytes. So rules that never match
// run before the parser's own, and count how often these are tried.
import MarkdownIt, { type Token } from "markdown-it";
import type { StepBudget } from "../../../base/format/step-budget.ts";

/** Maximum work for one text, in steps of about a microsecond: its syntax, links, colours of code,
 * and elements. A changelog of 600 KB takes some 400,000. */
export const MAX_MARKDOWN_STEPS = 1_000_000;

/** Steps per try of the rules at a line's beginning, and at a character that may be markup. */
const STEPS_PER_BLOCK = 1;
const STEPS_PER_INLINE = 4;

/** Characters of the result per step. Each link to a reference repeats its address. */
const CHARS_PER_STEP = 16;

/** Maximum length of an address recognised in text, in characters. */
const MAX_ADDRESS_CHARS = 2_000;

/** Characters of such an address per step, if each is examined. */
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

  /** Spends steps. @returns false: as a rule, it does not match */
  #spend(steps: number): false {
    this.#budget?.spend(steps);
    return false;
  }

  /** Measures an address after its scheme; 0: not an address.
   * @param pattern of the rest of an address, sticky */
  #look(pattern: RegExp, text: string, at: number): number {
    this.#spend(Math.min(text.length - at, MAX_ADDRESS_CHARS) / LOOKS_PER_STEP);
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0].length ?? 0;
  }
}

/** Estimates the characters that tokens are written as. */
function countChars(tokens: readonly Token[]): number {
  let chars = 0;
  for (const { content, attrs, children } of tokens) {
    chars += children === null ? content.length : countChars(children);
    for (const [, value] of attrs ?? []) chars += String(value).length;
  }
  return chars;
}
