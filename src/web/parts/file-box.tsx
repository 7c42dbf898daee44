import type { Child } from "hono/jsx";
import { safeContentType } from "../../format/content-type.ts";
import { isExecutable, isFileMode, SYMLINK_MODE } from "../../format/tree.ts";
import type { ShownFile } from "../../repository/pages/path-page.ts";
import type { PageRevision } from "../../repository/pages/page-revision.ts";
import { Code, countLines } from "./code.tsx";
import { codeLanguageOf } from "./code-languages.ts";
import { highlight } from "./highlight.ts";
import { isMarkdown, Prose } from "./readme.tsx";
import { visibleName, visibleText } from "./text.ts";
import { pathUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** Lines of a file that a page shows. */
export const MAX_LINES = 20_000;

const UTF_8 = new TextDecoder();

/** Whether a file is shown as an image. @param path byte string */
export function isImage(path: string): boolean {
  return /\.svg$/i.test(path) || safeContentType(path).startsWith("image/");
}

/** A file: as an image, as Markdown, or as code.
 * @param isPlain whether Markdown and images are shown as code
 * @param children the last commit */
export function FileBox({
  file,
  isPlain,
  place,
  revision,
  path,
  children,
}: {
  file: ShownFile;
  isPlain: boolean;
  place: PagePlace;
  revision: PageRevision;
  path: string;
  children: Child;
}) {
  const rawUrl = pathUrl(place, "raw", revision.name, path);
  const code = file.content === null ? null : visibleText(UTF_8.decode(file.content));
  const lineCount = code === null ? 0 : countLines(code);
  const isRendered = isFileMode(file.mode) && !isPlain && (isMarkdown(path) || isImage(path));
  const here = pathUrl(place, "blob", revision.name, path);
  return (
    <section class="box" aria-labelledby="file">
      <h2 id="file" class="hush">
        {visibleName(path)}
      </h2>
      {children}
      <div class="head">
        <span>{describeFile(file, code === null ? null : lineCount)}</span>
        <span class="push row">
          {isFileMode(file.mode) && (isMarkdown(path) || /\.svg$/i.test(path)) && (
            <a href={isPlain ? here : `${here}?plain=1`}>{isPlain ? "Rendered" : "Source"}</a>
          )}
          {code !== null && <a href={pathUrl(place, "blame", revision.name, path)}>Blame</a>}
          <a href={rawUrl}>Raw</a>
          {revision.name !== revision.commit && (
            <a href={pathUrl(place, "blob", revision.commit, path)} data-with="key" data-key="y">
              Permalink
            </a>
          )}
        </span>
      </div>
      {isRendered && isImage(path) ? (
        <p class="picture">
          <img src={rawUrl} alt="The file, as an image" />
        </p>
      ) : code === null || lineCount > MAX_LINES ? (
        <p class="told">
          {file.isBinary ? "A binary file, which is not shown." : `Too large to be shown here.`}{" "}
          <a href={rawUrl}>Download it</a>
        </p>
      ) : isRendered ? (
        <Prose
          id={file.oid}
          name={path}
          text={code}
          where={{ place, rev: revision.name, directory: directoryOf(path) }}
        />
      ) : (
        <ColouredCode code={code} lineCount={lineCount} path={path} />
      )}
    </section>
  );
}

/** The code of a file, in colours if its language is known. */
function ColouredCode({ code, lineCount, path }: { code: string; lineCount: number; path: string }) {
  const { html, isPartial } = highlight(code, codeLanguageOf(path));
  return (
    <>
      {isPartial && <p class="told short">Not all of it is in colours: it is too long, or some of its lines are.</p>}
      <Code html={html} lineCount={lineCount} />
    </>
  );
}

/** A file in a few words: its lines, its size.
 * @param lineCount null: the lines are not known */
export function describeFile({ mode, sizeBytes }: ShownFile, lineCount: number | null): string {
  const kind = mode === SYMLINK_MODE ? "symbolic link" : isExecutable(mode) ? "executable" : null;
  const lines = lineCount === null ? null : `${lineCount.toLocaleString("en")} ${lineCount === 1 ? "line" : "lines"}`;
  return [lines, showSize(sizeBytes), kind].filter((part) => part !== null).join(" · ");
}

/** A size for people. */
export function showSize(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let unit = 0;
  let size = bytes;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${bytes} ${bytes === 1 ? "byte" : "bytes"}` : `${size.toFixed(1)} ${units[unit]}`;
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}
