/** Checks of logs, commits and comparisons as the API shows them. */
import { join } from "node:path";
import { git, tryGit } from "../../test/harness/git.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { type Comparison, defineApiCheck, type ServedHistory } from "./served-history.ts";

export const log = defineApiCheck(
  `A case is a log of a random commit: with and without a path, times, an author, a text, first parents
only, renames followed; in pages of random size.`,
  async (history) => {
    const { random } = history;
    const ref = history.pickCommit();
    const query: Record<string, string> = { ref, limit: String(random.pick([10, 30, 100])) };
    const args: string[] = [];
    const at = async (format: string): Promise<string> =>
      history.git("log", "-1", `--format=${format}`, history.pickCommit());
    if (random.below(4) === 0) args.push(`--since=${(query["since"] = await at("%cI"))}`);
    if (random.below(4) === 0) args.push(`--until=${(query["until"] = await at("%cI"))}`);
    if (random.below(4) === 0) args.push("-F", `--author=${(query["author"] = await at(random.pick(["%an", "%ae"])))}`);
    const word = /\w+/.exec(await at("%s"))?.[0];
    if (word !== undefined && random.below(4) === 0) args.push("-F", `--grep=${(query["text"] = word)}`);
    if (random.below(4) === 0) {
      query["firstParent"] = "true";
      args.push("--first-parent");
    }
    const path = random.below(4) === 0 ? null : await choosePath(history);
    if (path !== null) {
      query["path"] = path;
      if (random.below(3) === 0) {
        query["follow"] = "true";
        args.push("--follow");
      }
    }
    args.push(ref, "--", ...(path === null ? [] : [path]));
    const { items } = await history.pages<{ oid: string }>(`/log?${new URLSearchParams(query).toString()}`, "commits");
    const listed = await history.git("log", "--format=%H", ...args);
    return [[`git log ${args.join(" ")}`, items.map(({ oid }) => oid).join("\n"), listed]];
  },
);

/** A file or a folder of a commit. */
async function choosePath(history: ServedHistory): Promise<string | null> {
  const { random } = history;
  const files = (await history.git("ls-tree", "-r", "-z", "--name-only", history.pickCommit())).split("\0");
  const parts = random.pick(files).split("/");
  return parts.slice(0, random.pick([parts.length, parts.length, random.below(parts.length) + 1])).join("/") || null;
}

interface Person {
  readonly name: string;
  readonly email: string;
  readonly date: string;
}

interface ShownCommit {
  readonly tree: string;
  readonly author: Person;
  readonly committer: Person;
  readonly message: string;
}

export const commits = defineApiCheck(
  `A case is a random commit, a merge against any of its parents: message, identities, times, files,
renames, figures, patches. git apply must turn one tree into the other with the whole patch.`,
  async (history) => {
    const { random, dir } = history;
    const oid = history.pickCommit();
    const parents = (await git(dir, "log", "-1", "--format=%P", oid)).split(" ").filter(Boolean);
    const parent = parents.length === 0 ? 0 : random.below(parents.length);
    const base = parents[parent] ?? (await git(dir, "hash-object", "-t", "tree", "/dev/null"));
    const query = parent === 0 ? "" : `&parent=${parent + 1}`;
    const { page, comparisons } = await compareDiff<ShownCommit>(history, `/commits/${oid}`, base, oid, query);
    const show = ({ name, email, date }: Person): string => `${name}\n${email}\n${date}`;
    const found = [page.tree, show(page.author), show(page.committer), page.message].join("\n");
    const shown = await history.git("log", "-1", "--format=%T%n%an%n%ae%n%aI%n%cn%n%ce%n%cI%n%B", oid);
    const [actual, expected] = [found, shown].map((text) => text.replaceAll("+00:00\n", "Z\n").trimEnd());
    return [[`commit ${oid}`, actual!, expected!], ...comparisons];
  },
);

interface Compared {
  readonly mergeBase: string | null;
  readonly ahead: number;
  readonly behind: number;
  readonly commits: readonly { readonly oid: string }[];
}

/** The most commits that an answer lists. */
const MOST_COMMITS = 250;

export const compare = defineApiCheck(
  `A case is a random pair of commits, near or far, by three dots or two: merge base, ahead,
behind, the commits listed, files, renames, figures, patches. git apply must turn one tree into the
other with the whole patch.`,
  async (history) => {
    const { random, dir, commits } = history;
    const at = random.below(commits.length);
    const distance = 1 + random.below(random.pick([3, 30, 300, commits.length]));
    const [base, head] = [commits[at]!, commits[(at + distance) % commits.length]!];
    const dots = random.pick(["..", "..."]);
    const mergeBase = await git(dir, "merge-base", base, head).catch(() => null);
    if (mergeBase === null && dots === "...") return [];
    const range = `${base}${dots}${head}`;
    const from = dots === "..." ? mergeBase! : base;
    const { page, comparisons } = await compareDiff<Compared>(history, `/compare/${range}`, from, head);
    const counts = await history.git("rev-list", "--left-right", "--count", `${base}...${head}`);
    const listed = await history.git("log", "--format=%H", `--max-count=${MOST_COMMITS}`, `${base}..${head}`);
    return [
      [`behind and ahead of ${range}`, `${page.behind}\t${page.ahead}`, counts],
      [`merge base of ${range}`, String(page.mergeBase), String(mergeBase)],
      [`commits of ${range}`, page.commits.map(({ oid }) => oid).join("\n"), listed],
      ...comparisons,
    ];
  },
);

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
async function compareDiff<Page>(
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
