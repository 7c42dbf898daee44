/** A history in two states, earlier and later, made of a real one with what real ones rarely have: every kind of ref, lines that merge
 * and merge again, a branch that is forced onto another line, and sparse specifications. */
import { join } from "node:path";
import { git, tryGit } from "../../test/harness/git.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";

/** A history in two states, and the names by which the cases ask for parts of it. Ids are hexadecimal. */
export interface FetchHistory {
  /** Bare repositories. The later one has every object of the earlier, too. */
  readonly earlierDir: string;
  readonly laterDir: string;
  /** The main branch, below `refs/heads/`. */
  readonly branch: string;
  /** A tag some way back on it. */
  readonly tag: string;
  /** Commits of it, the newest first: 5, 30, 300 behind its later tip, or as far as there are. */
  readonly commits: readonly [string, string, string];
  /** A commit that only a merge's second parent leads to; an annotated tag of a tag; a tree below the tip's; a blob of it. */
  readonly sideCommit: string;
  readonly nestedTag: string;
  readonly tree: string;
  readonly blob: string;
  /** A path of the main branch's tip. */
  readonly path: string;
  /** Commit dates of the main branch, the newest first; seconds. */
  readonly dates: readonly [number, number, number];
  /** Blobs of sparse specifications by their paths on the branch `specs`. */
  readonly specs: ReadonlyMap<string, string>;
}

/** Makes the two states of a history.
 * @param laterDir a mirror of it, which becomes the later state
 * @throws Error if it has no branch */
export async function makeFetchHistory(laterDir: string): Promise<FetchHistory> {
  const branch = await findBranch(laterDir);
  await git(laterDir, "symbolic-ref", "HEAD", `refs/heads/${branch}`);
  const line = (await git(laterDir, "rev-list", "--first-parent", branch)).split("\n");
  /** The commit so far behind the tip; of a short history, the root. */
  const at = (distance: number): string => line[Math.min(distance, line.length - 1)]!;
  const show = (name: string): Promise<string> => git(laterDir, "rev-parse", "--verify", name);
  const dateOf = async (commit: string): Promise<number> =>
    Number(await git(laterDir, "log", "-1", "--format=%ct", commit));
  const dates = [await dateOf(at(20)), await dateOf(at(200)), await dateOf(at(2000))] as const;
  const stream = new Stream(await dateOf(at(0)));
  stream.addLine("new", at(40), 3);
  stream.addLine("forced", at(90), 2);
  const merged = Array.from({ length: 10 }, (_, i) => at(140 - 10 * i));
  const trees = await git(laterDir, "rev-parse", ...merged.map((commit) => `${commit}^{tree}`));
  const merges = stream.addWeave(at(150), merged, trees.split("\n"));
  stream.addSpecs(await listSpecs(laterDir, branch));
  await stream.import(laterDir);
  await git(laterDir, "update-ref", "refs/heads/old", at(500));
  await addTags(laterDir, at);
  const earlierDir = await makeEarlier(laterDir, {
    branch,
    tip: at(60),
    weave: await show(merges[4]!),
    forkedAt: at(100),
  });
  // Without a ref: what a client may still have when its server has moved on.
  await git(laterDir, "fetch", "-q", earlierDir, "refs/heads/forced");
  const tags = await git(laterDir, "tag", "--merged", at(90), "--sort=-creatordate", "--no-contains", at(60));
  const [path, blob] = await findEntry(laterDir, branch, "blob");
  const specs = await git(laterDir, "ls-tree", "--format=%(path) %(objectname)", "specs");
  const sideCommit = await show(merges[2]!);
  for (const ref of merges) await git(laterDir, "update-ref", "-d", ref);
  return {
    earlierDir,
    laterDir,
    branch,
    tag: tags.split("\n").find((name) => name !== "") ?? "nested-inner",
    commits: [at(5), at(30), at(300)],
    sideCommit,
    nestedTag: await show("refs/tags/nested"),
    tree: (await findEntry(laterDir, branch, "tree"))[1],
    blob,
    path,
    dates,
    specs: new Map(specs.split("\n").map((entry) => entry.split(" ") as [string, string])),
  };
}

/** The branch that HEAD names; a bundle may name none, then the one with the newest commit.
 * @throws Error if there is no branch */
export async function findBranch(dir: string): Promise<string> {
  const branches = await git(dir, "for-each-ref", "--sort=-committerdate", "--format=%(HEAD) %(refname)", "refs/heads");
  const [newest] = branches.split("\n");
  const chosen = branches.split("\n").find((line) => line.startsWith("*")) ?? newest!;
  if (chosen === "") throw new Error("the history has no branch");
  return chosen.slice("* refs/heads/".length);
}

/** The state before: fewer commits and tags, and another line that is forced away. */
async function makeEarlier(
  laterDir: string,
  at: { readonly branch: string; readonly tip: string; readonly weave: string; readonly forkedAt: string },
): Promise<string> {
  const dir = join(makeTempDir("earlier"), "earlier.git");
  await git(".", "clone", "-q", "--mirror", laterDir, dir);
  const later = await git(dir, "for-each-ref", "--format=%(refname)", "--no-merged", at.tip, "refs/tags");
  const isKept = (name: string): boolean => /^refs\/tags\/(nested|nested-inner|of-tree|of-blob)$/.test(name);
  const merges = (await git(dir, "for-each-ref", "--format=%(refname)", "refs/made")).split("\n");
  const gone = [
    "refs/heads/new",
    "refs/heads/forced",
    ...merges,
    ...later.split("\n").filter((name) => name !== "" && !isKept(name)),
  ];
  const stdin = [
    ...gone.map((name) => `delete ${name}`),
    `update refs/heads/${at.branch} ${at.tip}`,
    `update refs/heads/weave ${at.weave}`,
    "",
  ].join("\n");
  const { code, stderr } = await tryGit(dir, ["update-ref", "--stdin"], { stdin });
  if (code !== 0) throw new Error(`git update-ref ended with ${code}:\n${stderr}`);
  const stream = new Stream(Number(await git(dir, "log", "-1", "--format=%ct", at.tip)));
  stream.addLine("forced", at.forkedAt, 3);
  await stream.import(dir);
  return dir;
}

/** The first entry of a kind of a branch's root tree: its path, without spaces, and id. */
async function findEntry(dir: string, branch: string, type: "blob" | "tree"): Promise<[path: string, oid: string]> {
  const listed = await git(dir, "ls-tree", "--format=%(objecttype) %(objectname) %(path)", branch);
  const [, oid, path] = new RegExp(`^${type} (\\w+) (\\S+)$`, "m").exec(listed) ?? [];
  if (path === undefined) throw new Error(`${branch} has no ${type} in its root tree`);
  return [path, oid!];
}

/** Tags of a tag, a tree and a blob, and one without an object of its own. */
async function addTags(dir: string, at: (distance: number) => string): Promise<void> {
  const write = async (stdin: string): Promise<string> =>
    (await tryGit(dir, ["hash-object", "-w", "--stdin"], { stdin })).stdout.trim();
  const tag = (...args: string[]): Promise<string> => git(dir, "tag", "-f", ...args);
  await tag("-am", "Inner", "nested-inner", at(70));
  await tag("-am", "Outer", "nested", "nested-inner");
  await tag("-am", "A tree", "of-tree", `${at(65)}^{tree}`);
  await tag("-am", "A blob", "of-blob", await write("tagged\n"));
  await tag("plain-blob", await write("tagged plainly\n"));
  await tag("-am", "New", "annotated-new", at(10));
}

/** Sparse specifications by name. */
async function listSpecs(dir: string, branch: string): Promise<Readonly<Record<string, string>>> {
  const folders = (await git(dir, "ls-tree", "-d", "-r", "--name-only", branch)).split("\n");
  const [one = "lib", another = "test"] = folders.filter((name) => !name.includes("/"));
  const inner = folders.find((name) => name.startsWith(`${another}/`)) ?? `${another}/inner`;
  return {
    folders: `/*\n!/*/\n/${one}/\n`,
    nested: `/*\n!/*/\n/${another}/\n!/${another}/*/\n/${inner}/\n`,
    negated: `# all but these\n*\n!/${one}/\n!*.md\n\n!*.json\n`,
    globs: "*.js\n*.go\n!**/[t-z]*.js\n[a-m]*/*.txt\n/*.m?\n**/util*/**\n\\#none\n",
    nothing: "\n# nothing\n",
  };
}

/** Commits that are made beside a history. @see git-fast-import(1) */
class Stream {
  readonly #lines: string[] = [];
  /** Each is a minute younger than the one before: dates grow, as they mostly do. */
  #seconds: number;

  constructor(seconds: number) {
    this.#seconds = Math.max(1_300_000_000, seconds);
  }

  /** A branch that leaves another commit; each of its commits changes a file of its own. */
  addLine(name: string, from: string, length: number): void {
    for (let count = 0; count < length; count++)
      this.#commit(`refs/heads/${name}`, count === 0 ? `from ${from}` : "", {
        [`${name}.txt`]: `${name} ${count} ${from}`,
      });
  }

  /** A branch that takes a commit of its own and merges another commit, of which it takes the tree, in turn.
   * @returns refs of its merges */
  addWeave(from: string, merged: readonly string[], trees: readonly string[]): string[] {
    return merged.map((other, count) => {
      this.#commit("refs/heads/weave", count === 0 ? `from ${from}` : "", { "weave.txt": `weave ${count}` });
      this.#commit("refs/heads/weave", `merge ${other}`, { "weave.txt": `merge ${count}` }, trees[count]);
      this.#lines.push(`reset refs/made/${count}\nfrom refs/heads/weave\n`);
      return `refs/made/${count}`;
    });
  }

  /** A branch without history that holds files. */
  addSpecs(files: Readonly<Record<string, string>>): void {
    this.#commit("refs/heads/specs", "", files);
  }

  async import(dir: string): Promise<void> {
    const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet", "--force"], {
      stdin: this.#lines.join("\n"),
    });
    if (code !== 0) throw new Error(`git fast-import ended with ${code}:\n${stderr}`);
  }

  /** @param like the tree that the files are put over, unless that is the parent's */
  #commit(ref: string, parents: string, files: Readonly<Record<string, string>>, like?: string): void {
    const committer = `committer Ada Example <ada@example.com> ${(this.#seconds += 60)} +0000`;
    const message = Object.values(files)[0]!.split("\n")[0]!;
    this.#lines.push(
      `commit ${ref}`,
      committer,
      `data ${message.length}`,
      message,
      ...(parents === "" ? [] : [parents]),
    );
    if (like !== undefined) this.#lines.push(`M 040000 ${like} ""`);
    for (const [path, content] of Object.entries(files)) {
      this.#lines.push(`M 100644 inline ${path}`, `data ${content.length + 1}`, `${content}\n`);
    }
  }
}
