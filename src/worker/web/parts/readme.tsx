import type { Readme } from "../../../contract/pages.ts";
import { type MarkdownPlace, renderMarkdown } from "./markdown.ts";
import { visibleName, visibleText } from "./text.ts";
import { pathUrl } from "./urls.ts";

const MARKDOWN = /\.(?:md|markdown)$/i;

/** Whether a file is shown as Markdown. @param path byte string */
export function isMarkdown(path: string): boolean {
  return MARKDOWN.test(path);
}

/** The README of a directory. */
export function ReadmeBox({ readme, where }: { readme: Readme; where: MarkdownPlace }) {
  const { name, oid, text } = readme;
  const path = where.directory === "" ? name : `${where.directory}/${name}`;
  const href = pathUrl(where.place, "blob", where.rev, path);
  return (
    <section class="box" aria-labelledby="readme">
      <div class="head">
        <h2 id="readme">
          <a href={href}>{visibleName(name)}</a>
        </h2>
      </div>
      {text === null ? (
        <p class="told">
          It is too large to be shown here. <a href={href}>Look at the file</a>
        </p>
      ) : (
        <Prose id={oid} name={name} text={text} where={where} />
      )}
    </section>
  );
}

/** A text: as Markdown if its file name says so, else unchanged.
 * @param id identifies the text */
export function Prose({ id, name, text, where }: { id: string; name: string; text: string; where: MarkdownPlace }) {
  if (!isMarkdown(name)) return <pre class="plain">{visibleText(text)}</pre>;
  const html = renderMarkdown(id, text, where);
  if (html !== null) return <article class="prose">{html}</article>;
  return (
    <>
      <p class="told short">It is shown as text: as Markdown it would take too much work.</p>
      <pre class="plain">{visibleText(text)}</pre>
    </>
  );
}
