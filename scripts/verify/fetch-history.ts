/** A history in two states, earlier and later. It is made from a real one, plus what real ones
 * rarely have: every kind of ref, lines that merge repeatedly, a branch that is forced onto
 * another line, and sparse specifications. */
import { join } from "node:path";
import { git, gitBytes, tryGit } from "../../test/harness/git.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";

/** A history in two states, and the parts of it that the cases name. Ids are hexadecimal. */
export interface FetchHistory {
  /** Bare repositories. The later one has every object of the earlier, too. */
  readonly earlierDir: string;
  readonly laterDir: string;
  /** The main branch, below `refs/heads/`. */
  readonly branch: string;
  /** A tag on it, some commits before its tip. */
  readonly tag: string;
  /** Its commits, the newest first: 5, 30 and 300 before its later tip, or as far as it goes. */
  readonly commits: readonly [string, string, string];
  /** A commit that is reachable only through a merge's second parent; an annotated tag of a tag; a
   * tree below the tip's; a blob in it. */
  readonly sideCommit: string;
  readonly nestedTag: string;
  readonly tree: string;
  readonly blob: string;
  /** A path in the main branch's tip. */
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
  /** The commit at this distance from the tip; in a short history, the root. */
  const at = (distance: number): string => line[Math.min(distance, line.length - 1)]!;
  const show = (name: string): Promise<string> => git(laterDir, "rev-parse", "--verify", name);
  const setRef = (name: string, oid: string): Promise<string> => git(laterDir, "update-ref", name, oid);
  // A line that alternates between a commit of its own and a merge of the main branch.
  const weave = [at(150)];
  for (let distance = 140; distance >= 50; distance -= 10) {
    const own = await commit(laterDir, at(distance + 5), weave.at(-1)!);
    weave.push(await commit(laterDir, at(distance), own, at(distance)));
  }
  const forkOnce = await commit(laterDir, at(500), at(100));
  await setRef("refs/heads/forced", await commit(laterDir, at(501), at(90)));
  await setRef("refs/heads/new", await commit(laterDir, at(41), await commit(laterDir, at(42), at(40))));
  await setRef("refs/heads/weave", weave.at(-1)!);
  await setRef("refs/heads/old", at(500));
  await addTags(laterDir, at);
  const specs = await addSpecs(laterDir, branch);
  const earlierDir = join(makeTempDir("earlier"), "earlier.git");
  await git(".", "clone", "-q", "--mirror", laterDir, earlierDir);
  const later = await git(laterDir, "for-each-ref", "--format=%(refname)", "--no-merged", at(60), "refs/tags");
  const gone = later.split("\n").filter((name) => name !== "" && !/\/(nested|of-)[a-z-]*$/.test(name));
  for (const name of ["refs/heads/new", ...gone]) await git(earlierDir, "update-ref", "-d", name);
  await git(earlierDir, "fetch", "-q", laterDir, forkOnce);
  const moved = { [branch]: at(60), weave: weave[5]!, forced: forkOnce };
  for (const [name, oid] of Object.entries(moved)) await git(earlierDir, "update-ref", `refs/heads/${name}`, oid);
  const tags = await git(laterDir, "tag", "--merged", at(90), "--sort=-creatordate", "--no-contains", at(60));
  const [path, blob] = await findEntry(laterDir, branch, "blob");
  return {
    earlierDir,
    laterDir,
    branch,
    tag: tags.split("\n").find((name) => name !== "") ?? "nested-inner",
    commits: [at(5), at(30), at(300)],
    sideCommit: weave[3]!,
    nestedTag: await show("refs/tags/nested"),
    tree: (await findEntry(laterDir, branch, "tree"))[1],
    blob,
    path,
    dates: [await dateOf(laterDir, at(20)), await dateOf(laterDir, at(200)), await dateOf(laterDir, at(2000))],
    specs,
  };
}

/** Makes a commit with another one's tree, a minute younger than its youngest parent: dates grow,
 * as they mostly do. */
async function commit(dir: string, like: string, ...parents: readonly string[]): Promise<string> {
  const dates = await Promise.all(parents.map((parent) => dateOf(dir, parent)));
  const date = `${Math.max(...dates) + 60} +0000`;
  const args = ["commit-tree", `${like}^{tree}`, "-m", `As ${like}`, ...parents.flatMap((oid) => ["-p", oid])];
  const { stdout } = await tryGit(dir, args, { env: { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date } });
  return stdout.trim();
}

/** Seconds. */
async function dateOf(dir: string, oid: string): Promise<number> {
  return Number(await git(dir, "log", "-1", "--format=%ct", oid));
}

/** The branch that HEAD names. A bundle may name none; then the one with the newest commit.
 * @throws Error if there is no branch */
export async function findBranch(dir: string): Promise<string> {
  const branches = await git(dir, "for-each-ref", "--sort=-committerdate", "--format=%(HEAD) %(refname)", "refs/heads");
  const [newest] = branches.split("\n");
  const chosen = branches.split("\n").find((line) => line.startsWith("*")) ?? newest!;
  if (chosen === "") throw new Error("the history has no branch");
  return chosen.slice("* refs/heads/".length);
}

/** The first entry of a kind in a branch's root tree: its path, without spaces, and id. */
async function findEntry(dir: string, branch: string, type: "blob" | "tree"): Promise<[path: string, oid: string]> {
  const listed = await git(dir, "ls-tree", "--format=%(objecttype) %(objectname) %(path)", branch);
  const [, oid, path] = new RegExp(`^${type} (\\w+) (\\S+)$`, "m").exec(listed) ?? [];
  if (path === undefined) throw new Error(`${branch} has no ${type} in its root tree`);
  return [path, oid!];
}

/** Tags of a tag, a tree and a blob, and a lightweight one. */
async function addTags(dir: string, at: (distance: number) => string): Promise<void> {
  const tag = (...args: string[]): Promise<string> => git(dir, "tag", "-f", ...args);
  await tag("-am", "Inner", "nested-inner", at(70));
  await tag("-am", "Outer", "nested", "nested-inner");
  await tag("-am", "A tree", "of-tree", `${at(65)}^{tree}`);
  await tag("-am", "A blob", "of-blob", await writeBlob(dir, "tagged\n"));
  await tag("plain-blob", await writeBlob(dir, "tagged plainly\n"));
  await tag("-am", "New", "annotated-new", at(10));
}

async function writeBlob(dir: string, stdin: string): Promise<string> {
  return (await gitBytes(dir, ["hash-object", "-w", "--stdin"], { stdin })).toString().trim();
}

/** Adds a branch without history that contains sparse specifications.
 * @returns the blobs by path */
async function addSpecs(dir: string, branch: string): Promise<ReadonlyMap<string, string>> {
  const folders = (await git(dir, "ls-tree", "-d", "-r", "--name-only", branch)).split("\n");
  const [one = "lib", another = "test"] = folders.filter((name) => !name.includes("/"));
  const inner = folders.find((name) => name.startsWith(`${another}/`)) ?? `${another}/inner`;
  const texts = {
    folders: `/*\n!/*/\n/${one}/\n`,
    nested: `/*\n!/*/\n/${another}/\n!/${another}/*/\n/${inner}/\n`,
    negated: `# all but these\n*\n!/${one}/\n!*.md\n\n!*.json\n`,
    globs: "*.js\n*.go\n!**/[t-z]*.js\n[a-m]*/*.txt\n/*.m?\n**/util*/**\n\\#none\n",
    nothing: "\n# nothing\n",
  };
  const blobs = new Map<string, string>();
  for (const [name, text] of Object.entries(texts)) blobs.set(name, await writeBlob(dir, text));
  const stdin = [...blobs].map(([name, oid]) => `100644 blob ${oid}\t${name}\n`).join("");
  const tree = (await tryGit(dir, ["mktree"], { stdin })).stdout.trim();
  await git(dir, "update-ref", "refs/heads/specs", await git(dir, "commit-tree", tree, "-m", "Specifications"));
  return blobs;
}
