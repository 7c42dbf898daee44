import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

const ESCAPED = /[&<>]/g;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Escapes text between tags.
 * @param text with hidden characters written out */
export function escapeText(text: string): string {
  return text.replace(ESCAPED, (char) => ENTITIES[char]!);
}

/** Counts the lines of a text. The last one may lack its newline. */
export function countLines(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) {
    const end = text.indexOf("\n", at);
    at = end < 0 ? text.length : end + 1;
  }
  return count;
}

/** Code with numbered lines. Each number links to its line.
 * @param html of the lines, as `highlight` writes it */
export function Code({ html, lineCount }: { html: string; lineCount: number }) {
  return (
    <div class="code" data-with="lines" tabindex={0} role="region" aria-label="Content of the file">
      <pre class="numbers" aria-hidden="true">
        {numbers(lineCount)}
      </pre>
      <pre class="lines">
        <code>
          {/* Safe: `highlight` escapes the whole text, and adds only its own elements. */}
          {raw(html)}
        </code>
      </pre>
    </div>
  );
}

/** Written as text: a JSX element for each line would take ten times as long. */
function numbers(count: number): HtmlEscapedString {
  const links: string[] = [];
  for (let line = 1; line <= count; line++) links.push(`<a id="L${line}" href="#L${line}" tabindex="-1">${line}</a>`);
  // Safe: only numbers.
  return raw(links.join("\n")) as HtmlEscapedString;
}
