import type { Readme } from "../../repository/pages/readme.ts";
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

/** A text: as Markdown if its name says so, else as it is.
 * @param id identifies the text */
export function Prose({ id, name, text, where }: { id: string; name: string; text: string; where: MarkdownPlace }) {
  const html = isMarkdown(name) ? renderMarkdown(id, text, where) : null;
  if (html === null) return <pre class="plain">{visibleText(text)}</pre>;
  return <article class="prose">{html}</article>;
}
