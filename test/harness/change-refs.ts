import { git } from "./git.ts";
import type { Random } from "./random.ts";

/** Makes one random change to the refs of a repository: new, moved, forced, renamed in the way of
 * others, deleted. `main` and the branch of HEAD are not deleted.
 * @param label differs from change to change */
export async function changeRefs(dir: string, random: Random, label: string): Promise<void> {
  const refs = (await git(dir, "for-each-ref", "--format=%(refname)")).split("\n");
  const ref = random.pick(refs);
  const isKept = ref === "refs/heads/main" || ref === (await git(dir, "symbolic-ref", "HEAD"));
  const commitOn = async (parent: string): Promise<string> => {
    const tree = await git(dir, "rev-parse", `${parent}^{tree}`);
    return git(dir, "commit-tree", tree, "-p", parent, "-m", label);
  };
  switch (random.below(7)) {
    case 0:
      return void (await git(dir, "update-ref", `refs/heads/b-${label}`, await commitOn("main")));
    case 1:
      return void (await git(dir, "update-ref", "refs/heads/main", await commitOn("main")));
    case 2:
      return void (await git(dir, "update-ref", "refs/heads/main", await commitOn("main~3")));
    case 3:
      return void (isKept || (await git(dir, "update-ref", "-d", ref)));
    case 4:
      // A name that stands in the way of the new one.
      if (isKept || !ref.startsWith("refs/heads/")) return;
      await git(dir, "update-ref", "-d", ref);
      return void (await git(dir, "update-ref", `${ref}/below`, "main"));
    case 5: {
      const tag = ["tag", "-f", "-a", "-m", label, `t-${random.below(3)}`, `main~${random.below(5)}`];
      return void (await git(dir, ...tag));
    }
    default: {
      const heads = refs.filter((other) => other.startsWith("refs/heads/"));
      return void (await git(dir, "symbolic-ref", "HEAD", random.pick(heads)));
    }
  }
}
