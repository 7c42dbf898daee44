import { join } from "node:path";
import { git, tryGit } from "../../test/harness/git.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";

/** A page of an answer that holds a diff. */
export interface DiffAnswer {
  readonly files: readonly {
    readonly path: string;
    readonly oldPath: string | null;
    readonly status: string;
    readonly additions: number | null;
    readonly deletions: number | null;
    readonly patch: string | null;
  }[];
  readonly fileCount: number;
  readonly nextCursor: string | null;
}

/** What is told of a file beyond this length is its figures alone. */
const MAX_PATCH_BYTES = 1024 * 1024;

/** Asks for all pages of an answer.
 * @param query further parameters, "&" before each
 * @returns the first page, with the files of all */
export async function askPages<Answer extends DiffAnswer>(url: string, query = ""): Promise<Answer> {
  let first: Answer | null = null;
  const files: DiffAnswer["files"][number][] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const response = await fetch(`${url}?${cursor === "" ? "" : `cursor=${cursor}`}${query}`);
    if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`);
    const page = (await response.json()) as Answer;
    first ??= page;
    files.push(...page.files);
    cursor = page.nextCursor;
  }
  return { ...first!, files };
}

/** Compares an answer with git: the files and their figures, each patch, and whether the whole patch makes the one tree of the other.
 * @returns what differs, in words */
export async function compareDiff(
  dir: string,
  url: string,
  answer: DiffAnswer,
  base: string,
  head: string,
  query = "",
): Promise<string[]> {
  const wrong: string[] = [];
  const diff = async (...options: string[]): Promise<string> =>
    (await tryGit(dir, ["-c", "diff.renameLimit=1000", "diff", "-M", "--no-color", ...options, base, head])).stdout;
  const figures = answer.files.map(({ path, oldPath, additions, deletions }) => {
    const lines = `${additions ?? "-"}\t${deletions ?? "-"}\t`;
    return oldPath === null ? `${lines}${path}\0` : `${lines}\0${oldPath}\0${path}\0`;
  });
  if (figures.join("") !== (await diff("--numstat", "-z"))) wrong.push("files or figures");
  if (answer.fileCount !== answer.files.length) wrong.push("the number of files");
  const patches = (await diff("--full-index")).split(/^(?=diff --git )/m).filter((patch) => patch !== "");
  for (const { path, status, patch } of answer.files) {
    // What is of another type now was deleted, then added.
    const expected = patches.splice(0, status === "type-changed" ? 2 : 1).join("");
    const isRight = patch === null ? Buffer.byteLength(expected) > MAX_PATCH_BYTES : patch === expected;
    if (!isRight) wrong.push(`the patch of ${path}`);
  }
  const env = { GIT_INDEX_FILE: join(makeTempDir("index"), "index") };
  const whole = await fetch(`${url}?format=diff${query}`);
  if (whole.status !== 200) return [...wrong, `the whole patch: ${whole.status}`];
  await tryGit(dir, ["read-tree", base], { env });
  const stdin = new Uint8Array(await whole.arrayBuffer());
  if (stdin.length > 0) {
    const applied = await tryGit(dir, ["apply", "--cached", "--whitespace=nowarn"], { env, stdin });
    if (applied.code !== 0) wrong.push(`git apply: ${applied.stderr}`);
  }
  const tree = (await tryGit(dir, ["write-tree", "--missing-ok"], { env })).stdout.trim();
  if (tree !== (await git(dir, "rev-parse", `${head}^{tree}`))) wrong.push("the tree that the whole patch makes");
  return wrong;
}
