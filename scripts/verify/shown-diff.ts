/** Compares the API's diffs with git's. */
import { join } from "node:path";
import { git, tryGit } from "../../test/harness/git.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import type { Comparison, ServedHistory } from "./served-history.ts";

interface ChangedFile {
  readonly path: string;
  readonly oldPath: string | null;
  readonly status: string;
  readonly additions: number | null;
  readonly deletions: number | null;
  readonly patch: string | null;
}

/** For larger patches only a file's figures are compared. */
const MAX_PATCH_BYTES = 1024 * 1024;

/** Requests a diff and compares it with git's: the files and their figures, each patch, and whether
 * the whole patch turns one tree into the other.
 * @param query parameters, "&" before each
 * @returns the first page, and what was compared */
export async function compareDiff<Page>(
  history: ServedHistory,
  path: string,
  base: string,
  head: string,
  query = "",
): Promise<{ readonly page: Page; readonly comparisons: Comparison[] }> {
  const { first: page, items: files } = await history.pages<ChangedFile, Page & { fileCount: number }>(
    `${path}?${query}`,
    "files",
  );
  const diff = (...options: string[]): Promise<string> =>
    history.git("diff", "-M", "--no-color", "--no-ext-diff", ...options, base, head);
  const figures = files.map(({ path: name, oldPath, additions, deletions }) => {
    const lines = `${additions ?? "-"}\t${deletions ?? "-"}\t`;
    return oldPath === null ? `${lines}${name}\0` : `${lines}\0${oldPath}\0${name}\0`;
  });
  const patches = `${await diff("--full-index")}\n`.split(/^(?=diff --git )/m).filter((patch) => patch.trim() !== "");
  const of = (what: string): string => `${what} of ${path}`;
  const comparisons: Comparison[] = [
    [of("files and figures"), figures.join(""), await diff("--numstat", "-z")],
    [of("the number of files"), String(page.fileCount), String(files.length)],
  ];
  for (const { path: name, status, patch } of files) {
    // A file whose type changed is deleted, then added.
    const expected = patches.splice(0, status === "type-changed" ? 2 : 1).join("");
    if (patch === null && Buffer.byteLength(expected) > MAX_PATCH_BYTES) continue;
    comparisons.push([of(`the patch of ${name}`), patch ?? "none", expected]);
  }
  const tree = await applyPatch(history.dir, base, await history.bytes(`${path}?format=diff${query}`));
  return {
    page,
    comparisons: [...comparisons, [of("the tree"), tree, await git(history.dir, "rev-parse", `${head}^{tree}`)]],
  };
}

/** @returns the tree that a patch makes of another, or why it does not apply */
async function applyPatch(dir: string, base: string, stdin: Uint8Array): Promise<string> {
  const env = { GIT_INDEX_FILE: join(makeTempDir("index"), "index") };
  await tryGit(dir, ["read-tree", base], { env });
  if (stdin.length > 0) {
    const applied = await tryGit(dir, ["apply", "--cached", "--whitespace=nowarn"], { env, stdin });
    if (applied.code !== 0) return applied.stderr;
  }
  return (await tryGit(dir, ["write-tree", "--missing-ok"], { env })).stdout.trim();
}
