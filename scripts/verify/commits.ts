/** Checks that the API shows commits as git does. */
import { git } from "../../test/harness/git.ts";
import { formatRows, showProgress } from "./report.ts";
import { checkServed, type ServedHistory, timed } from "./served-history.ts";
import { askPages, compareDiff, type DiffAnswer } from "./shown-diff.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify/commits.ts [OPTIONS] HISTORY

Pushes HISTORY (a bundle, or a repository's folder or URL), asks the API for random commits (of merges, compared with any of their
parents), and compares each answer with git's: message, identities, times, files, renames, figures, patches; the whole patch
must make the one tree of the other by git apply.
Ends with 1 if anything differs.

  --cases N     how many commits (default 200)
  --seed N      another number, other commits (default 1)
  --server URL  a Holdfast server, such as http://localhost:8787; without it one is started for the check alone
  --help        this text
`;

interface Ident {
  readonly name: string;
  readonly email: string;
  readonly date: string;
}

interface ShownCommit extends DiffAnswer {
  readonly oid: string;
  readonly tree: string;
  readonly author: Ident;
  readonly committer: Ident;
  readonly message: string;
}

async function check({ dir, api, random, cases }: ServedHistory): Promise<number> {
  const commits = (await git(dir, "rev-list", "--parents", "--all")).split("\n").map((line) => line.split(" "));
  const empty = await git(dir, "hash-object", "-t", "tree", "/dev/null");
  const merges = commits.filter(({ length }) => length > 2);
  const sum = { files: 0, renames: 0, merges: 0, different: 0, apiMs: 0 };
  for (let number = 1; number <= cases; number++) {
    showProgress(`commit ${number} of ${cases}`);
    const [oid, ...parents] = random.pick(merges.length > 0 && number % 4 === 0 ? merges : commits);
    const parent = parents.length === 0 ? 0 : random.below(parents.length);
    const url = `${api}/commits/${oid}`;
    const query = parent === 0 ? "" : `&parent=${parent + 1}`;
    const { result: answer, ms } = await timed(() => askPages<ShownCommit>(url, query));
    const wrong = await compareDiff(dir, url, answer, parents[parent] ?? empty, oid!, query);
    const person = ({ name, email, date }: Ident): string => `${name}\n${email}\n${date.replace("Z", "+00:00")}`;
    const format = "%T%n%an%n%ae%n%aI%n%cn%n%ce%n%cI%n%B";
    const expected = await git(
      dir,
      "-c",
      "log.mailmap=false",
      "log",
      "-1",
      "--no-show-signature",
      `--format=${format}`,
      oid!,
    );
    const found = [answer.tree, person(answer.author), person(answer.committer), answer.message].join("\n");
    if (found.trimEnd() !== expected.replace(/Z$/gm, "+00:00").trimEnd()) wrong.push("the commit itself");
    sum.files += answer.files.length;
    sum.renames += answer.files.filter(({ oldPath }) => oldPath !== null).length;
    sum.merges += parents.length > 1 ? 1 : 0;
    sum.apiMs += ms;
    if (wrong.length === 0) continue;
    sum.different++;
    console.error(`${oid} beside parent ${parent + 1}: ${wrong.join(", ")}`);
  }
  showProgress("");
  console.log(
    formatRows([
      ["commits compared", String(cases)],
      ["merges among them", String(sum.merges)],
      ["files", String(sum.files)],
      ["renames", String(sum.renames)],
      ["different", String(sum.different)],
      ["API", `${Math.round(sum.apiMs)} ms`],
    ]),
  );
  return sum.different;
}

await checkServed(USAGE, check);
