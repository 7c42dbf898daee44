/** Compares commits shown by the API with git's. */
import { git } from "../../test/harness/git.ts";
import { defineApiCheck } from "./served-history.ts";
import { compareDiff } from "./shown-diff.ts";

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

export default defineApiCheck(
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
