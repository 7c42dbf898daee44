import type { Child } from "hono/jsx";
import { safeContentType } from "../../../base/format/content-type.ts";
import { isExecutable, isFileMode, SYMLINK_MODE } from "../../../base/format/tree.ts";
import type { ShownFile, PageRevision } from "../../../contract/pages.ts";
import { Code, countLines } from "./code.tsx";
import { codeLanguageOf } from "./code-languages.ts";
import { highlight } from "./highlight.ts";
import { isMarkdown, Prose } from "./readme.tsx";
import { visibleName, visibleText } from "./text.ts";
import { pathUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** Maximum number of a file's lines on a page. */
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
  const lfs = isPlain ? null : file.lfs;
  const rawUrl = pathUrl(place, "raw", revision.name, path) + (lfs === null ? "" : "?lfs=true");
  const code = file.content === null || lfs !== null ? null : visibleText(UTF_8.decode(file.content));
  const lineCount = code === null ? null : countLines(code);
  const isRendered = isFileMode(file.mode) && !isPlain && (isMarkdown(path) || isImage(path));
  const isPicture = isRendered && isImage(path) && lfs?.key !== null;
  return (
    <section class="box" aria-labelledby="file">
      <h2 id="file" class="hush">
        {visibleName(path)}
      </h2>
      {children}
      <FileHead {...{ file, isPlain, place, revision, path, rawUrl, lineCount }} />
      {isPicture ? (
        <p class="picture">
          <img src={rawUrl} alt="The file, as an image" />
        </p>
      ) : lfs !== null ? (
        <LfsNote lfs={lfs} rawUrl={rawUrl} />
      ) : code === null || lineCount === null || lineCount > MAX_LINES ? (
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

/** The head of a file's box: a short description of the file, and links to its other views. */
function FileHead({
  file,
  isPlain,
  place,
  revision,
  path,
  rawUrl,
  lineCount,
}: Omit<Parameters<typeof FileBox>[0], "children"> & { rawUrl: string; lineCount: number | null }) {
  const here = pathUrl(place, "blob", revision.name, path);
  const hasSource = isFileMode(file.mode) && (isMarkdown(path) || /\.svg$/i.test(path));
  return (
    <div class="head">
      <span>{describeFile(file, lineCount, isPlain)}</span>
      <span class="push row">
        {file.lfs !== null ? (
          <a href={isPlain ? here : `${here}?plain=1`}>{isPlain ? "Content" : "Pointer"}</a>
        ) : (
          hasSource && <a href={isPlain ? here : `${here}?plain=1`}>{isPlain ? "Rendered" : "Source"}</a>
        )}
        {lineCount !== null && <a href={pathUrl(place, "blame", revision.name, path)}>Blame</a>}
        <a href={rawUrl}>Raw</a>
        {revision.name !== revision.commit && (
          <a href={pathUrl(place, "blob", revision.commit, path)} data-with="key" data-key="y">
            Permalink
          </a>
        )}
      </span>
    </div>
  );
}

/** A note about a file whose content is in Git LFS. */
function LfsNote({ lfs: { oid, key }, rawUrl }: { lfs: NonNullable<ShownFile["lfs"]>; rawUrl: string }) {
  return (
    <p class="told">
      Git LFS keeps its content, by the id <code>{oid}</code>.{" "}
      {key === null ? "Nobody has sent it yet: git lfs push --all" : <a href={rawUrl}>Download it</a>}
    </p>
  );
}

/** The code of a file, coloured if its language is known. */
function ColouredCode({ code, lineCount, path }: { code: string; lineCount: number; path: string }) {
  const { html, isPartial } = highlight(code, codeLanguageOf(path));
  return (
    <>
      {isPartial && <p class="told short">Not all of it is in colours: it is too long, or some of its lines are.</p>}
      <Code html={html} lineCount={lineCount} />
    </>
  );
}

/** Describes a file in a few words: its lines, its size.
 * @param lineCount null: unknown
 * @param isPlain whether a pointer of Git LFS is described, not the object that it points to */
export function describeFile({ mode, sizeBytes, lfs }: ShownFile, lineCount: number | null, isPlain = false): string {
  if (lfs !== null && !isPlain) return `${showSize(lfs.sizeBytes)} · Git LFS`;
  const kind = mode === SYMLINK_MODE ? "symbolic link" : isExecutable(mode) ? "executable" : null;
  const lines = lineCount === null ? null : `${lineCount.toLocaleString("en")} ${lineCount === 1 ? "line" : "lines"}`;
  return [lines, showSize(sizeBytes), kind].filter((part) => part !== null).join(" · ");
}

/** Formats a size for people. */
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
