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

/** Reads a history and makes the two states of it.
 * @param source a bundle, or wherever else git can clone from
 * @throws Error if it has no branch */
export async function makeFetchHistory(source: string): Promise<FetchHistory> {
  const laterDir = join(makeTempDir("later"), "later.git");
  await git(".", "clone", "-q", "--mirror", source, laterDir);
  const branch = await findBranch(laterDir);
  await git(laterDir, "symbolic-ref", "HEAD", `refs/heads/${branch}`);
  const line = (await git(laterDir, "rev-list", "--first-parent", branch)).split("\n");
  const writer = new Writer(laterDir, line);
  const specs = await writer.writeSpecs(branch);
  const weave = await writer.writeWeave();
  await writer.writeTags();
  const setRef = (name: string, oid: string): Promise<string> => git(laterDir, "update-ref", `refs/heads/${name}`, oid);
  await setRef("old", writer.at(500));
  await setRef("new", await writer.writeLine(40, 3, "new"));
  await setRef("weave", weave.at(-1)!);
  await setRef("forced", await writer.writeLine(90, 2, "forced again"));
  const earlierDir = await makeEarlier(laterDir, branch, { tip: writer.at(60), weave: weave[4]!, forkedAt: 100 });
  // Without a ref: what a client may still have when its server has moved on.
  await git(laterDir, "fetch", "-q", earlierDir, "refs/heads/forced");
  const show = (name: string): Promise<string> => git(laterDir, "rev-parse", "--verify", name);
  const dateOf = async (commit: string): Promise<number> =>
    Number(await git(laterDir, "log", "-1", "--format=%ct", commit));
  const tags = await git(
    laterDir,
    "tag",
    "--merged",
    writer.at(90),
    "--sort=-creatordate",
    "--no-contains",
    writer.at(60),
  );
  const [path, blob] = await findEntry(laterDir, branch, "blob");
  return {
    earlierDir,
    laterDir,
    branch,
    tag: tags.split("\n").find((name) => name !== "") ?? "nested-inner",
    commits: [writer.at(5), writer.at(30), writer.at(300)],
    sideCommit: weave[2]!,
    nestedTag: await show("refs/tags/nested"),
    tree: (await findEntry(laterDir, branch, "tree"))[1],
    blob,
    path,
    dates: [await dateOf(writer.at(20)), await dateOf(writer.at(200)), await dateOf(writer.at(2000))],
    specs,
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

async function makeEarlier(
  laterDir: string,
  branch: string,
  { tip, weave, forkedAt }: { readonly tip: string; readonly weave: string; readonly forkedAt: number },
): Promise<string> {
  const dir = join(makeTempDir("earlier"), "earlier.git");
  await git(".", "clone", "-q", "--mirror", laterDir, dir);
  const later = await git(dir, "for-each-ref", "--format=%(refname)", "--no-merged", tip, "refs/tags");
  const made = new Set(["refs/tags/nested", "refs/tags/nested-inner", "refs/tags/of-tree", "refs/tags/of-blob"]);
  const gone = ["refs/heads/new", ...later.split("\n").filter((name) => name !== "" && !made.has(name))];
  const line = (await git(dir, "rev-list", "--first-parent", branch)).split("\n");
  const forced = await new Writer(dir, line).writeLine(forkedAt, 3, "forced once");
  const updates = [
    ...gone.map((name) => `delete ${name}`),
    `update refs/heads/${branch} ${tip}`,
    `update refs/heads/weave ${weave}`,
    `update refs/heads/forced ${forced}`,
  ];
  const { code, stderr } = await tryGit(dir, ["update-ref", "--stdin"], { stdin: `${updates.join("\n")}\n` });
  if (code !== 0) throw new Error(`git update-ref ended with ${code}:\n${stderr}`);
  return dir;
}

/** The first entry of a kind of a branch's root tree: its path and id. */
async function findEntry(dir: string, branch: string, type: "blob" | "tree"): Promise<[path: string, oid: string]> {
  const listed = await git(dir, "ls-tree", "--format=%(objecttype) %(objectname) %(path)", branch);
  const entry = listed.split("\n").find((line) => line.startsWith(`${type} `));
  if (entry === undefined) throw new Error(`${branch} has no ${type} in its root tree`);
  return [entry.slice(46), entry.slice(5, 45)];
}

/** Writes objects into a repository, beside its main branch. */
class Writer {
  readonly #dir: string;
  /** The main branch's commits by first parents, the newest first. */
  readonly #line: readonly string[];

  constructor(dir: string, line: readonly string[]) {
    this.#dir = dir;
    this.#line = line;
  }

  /** The commit so far behind the tip; of a short history, the root. */
  at(distance: number): string {
    return this.#line[Math.min(distance, this.#line.length - 1)]!;
  }

  /** Commits that leave the main branch and each change a file of their own. @returns the last one */
  async writeLine(leaves: number, length: number, name: string): Promise<string> {
    let tip = this.at(leaves);
    for (let count = 0; count < length; count++) tip = await this.#commitFile(tip, `${name}.txt`, `${name} ${count}`);
    return tip;
  }

  /** A line that takes a commit of its own and merges the main branch, in turn. @returns its ten merges */
  async writeWeave(): Promise<string[]> {
    const merges: string[] = [];
    let tip = this.at(150);
    for (let count = 1; count <= 10; count++) {
      tip = await this.#commitFile(tip, "weave.txt", `Weave ${count}`);
      const main = this.at(150 - 10 * count);
      const tree = await this.#writeTree(await this.#ls(`${main}^{tree}`), ["weave.txt", `merge ${count}\n`]);
      tip = await this.#writeCommit(tree, [tip, main], `Merge ${count}`);
      merges.push(tip);
    }
    return merges;
  }

  /** Tags of a tag, a tree and a blob, and one without an object of its own. */
  async writeTags(): Promise<void> {
    const tag = (...args: string[]): Promise<string> => git(this.#dir, "tag", "-f", ...args);
    await tag("-am", "Inner", "nested-inner", this.at(70));
    await tag("-am", "Outer", "nested", "nested-inner");
    await tag("-am", "A tree", "of-tree", `${this.at(65)}^{tree}`);
    await tag("-am", "A blob", "of-blob", await this.#writeBlob("tagged\n"));
    await tag("plain-blob", await this.#writeBlob("tagged plainly\n"));
    await tag("-am", "New", "annotated-new", this.at(10));
  }

  /** A branch without history that holds sparse specifications. @returns the blobs by their paths */
  async writeSpecs(branch: string): Promise<ReadonlyMap<string, string>> {
    const folders = (await git(this.#dir, "ls-tree", "-d", "-r", "--name-only", branch)).split("\n");
    const [one = "lib", another = "test"] = folders.filter((name) => !name.includes("/"));
    const inner = folders.find((name) => name.startsWith(`${another}/`)) ?? `${another}/inner`;
    const texts = {
      folders: `/*\n!/*/\n/${one}/\n`,
      nested: `/*\n!/*/\n/${another}/\n!/${another}/*/\n/${inner}/\n`,
      negated: `# all but these\n*\n!/${one}/\n!*.md\n\n!*.json\n`,
      globs: "*.js\n*.go\n!**/[t-z]*.js\n[a-m]*/*.txt\n/*.m?\n**/util*/**\n\\#none\n",
      nothing: "\n# nothing\n",
    };
    const files = Object.entries(texts).map(([name, text]) => [name, text] as const);
    const tree = await this.#writeTree([], ...files);
    await git(this.#dir, "update-ref", "refs/heads/specs", await this.#writeCommit(tree, [], "Specifications"));
    const oids = await git(this.#dir, "ls-tree", "--format=%(path) %(objectname)", tree);
    return new Map(oids.split("\n").map((line) => line.split(" ") as [string, string]));
  }

  async #commitFile(parent: string, path: string, text: string): Promise<string> {
    const tree = await this.#writeTree(await this.#ls(`${parent}^{tree}`), [path, `${text}\n`]);
    return this.#writeCommit(tree, [parent], text);
  }

  async #ls(tree: string): Promise<string[]> {
    return (await git(this.#dir, "ls-tree", tree)).split("\n");
  }

  async #writeBlob(content: string): Promise<string> {
    const { stdout } = await tryGit(this.#dir, ["hash-object", "-w", "--stdin"], { stdin: content });
    return stdout.trim();
  }

  /** Files over the entries of another tree, as `ls-tree` lists them. */
  async #writeTree(
    entries: readonly string[],
    ...files: readonly (readonly [path: string, content: string])[]
  ): Promise<string> {
    const lines = new Map(entries.map((line) => [line.slice(line.indexOf("\t") + 1), line]));
    for (const [path, content] of files) lines.set(path, `100644 blob ${await this.#writeBlob(content)}\t${path}`);
    const { stdout } = await tryGit(this.#dir, ["mktree"], { stdin: `${[...lines.values()].join("\n")}\n` });
    return stdout.trim();
  }

  /** A minute younger than its youngest parent: dates grow, as they mostly do. */
  async #writeCommit(tree: string, parents: readonly string[], message: string): Promise<string> {
    const dates = await Promise.all(parents.map((oid) => git(this.#dir, "log", "-1", "--format=%ct", oid)));
    const date = `${Math.max(1_300_000_000, ...dates.map(Number)) + 60} +0000`;
    const args = ["commit-tree", tree, "-m", message, ...parents.flatMap((oid) => ["-p", oid])];
    const { stdout } = await tryGit(this.#dir, args, { env: { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date } });
    return stdout.trim();
  }
}
