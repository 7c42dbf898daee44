/** Histories as irregular as git allows: merges of two parents and more, several roots, clocks that
 * run backwards, many commits in the same second. */
import { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { PushedRepository } from "../pushing.ts";
import { ANYONE } from "../../harness/requester.ts";

/** A history in git and as pushed. */
export interface TangledHistory {
  readonly dir: string;
  /** Every commit, in the order of creation: parents first. */
  readonly oids: readonly string[];
  readonly repository: OpenRepository;
}

/** Changes a file, removes one, or does nothing. The same content recurs many times. */
function makeChange(random: Random): string {
  const path = random.pick(["file", "other", "dir/file", "dir/other", "dir/sub/file", "dir/sub/other"]);
  switch (random.below(8)) {
    case 0:
      return "\n";
    case 1:
      return `D ${random.pick([path, "dir", "dir/sub"])}\n\n`;
    default:
      return `M ${random.pick([644, 644, 755])} inline ${path}\ndata 2\n${random.below(3)}\n\n`;
  }
}

/** Makes one; every commit has a branch `b<n>`.
 * @param commits how many
 * @param width from how many of the last commits parents are chosen: few give a dense graph, many a
 * wide one */
export async function makeTangledHistory(seed: number, commits: number, width: number): Promise<TangledHistory> {
  const dir = await makeRepository("tangled.git", "--bare");
  const random = new Random(seed);
  const stream: string[] = [];
  let seconds = 1_700_000_000;
  for (let n = 1; n <= commits; n++) {
    // A third share their second with the previous commit, some are hours older than their parents.
    seconds += random.pick([0, 60, 3_600]);
    const time = random.below(8) === 0 ? seconds - random.below(100_000) : seconds;
    const parents = new Set<number>();
    const count = random.below(30) === 0 ? 0 : random.pick([1, 1, 1, 2, 2, 3]);
    for (let k = 0; k < count && n > 1; k++) parents.add(Math.max(1, n - 1 - random.below(width)));
    const message = `commit ${n}`;
    stream.push(
      `reset refs/heads/b${n}\ncommit refs/heads/b${n}\nmark :${n}\n` +
        `author A${random.below(3)} <a@example.com> ${time} +0100\ncommitter C <c@example.com> ${time} +0000\n` +
        `data ${message.length}\n${message}\n`,
    );
    [...parents].forEach((parent, k) => stream.push(`${k === 0 ? "from" : "merge"} :${parent}\n`));
    stream.push(makeChange(random));
  }
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: stream.join("") });
  if (code !== 0) throw new Error(stderr);
  await git(dir, "symbolic-ref", "HEAD", `refs/heads/b${commits}`);
  const refs = (await git(dir, "for-each-ref", "--format=%(refname) %(objectname)")).split("\n");
  const oidOf = new Map(refs.map((line) => line.split(" ") as [string, string]));
  const pushed = new PushedRepository();
  await pushed.pushFrom(dir, Object.fromEntries(oidOf));
  return {
    dir,
    oids: Array.from({ length: commits }, (_, i) => oidOf.get(`refs/heads/b${i + 1}`)!),
    repository: new OpenRepository(pushed.repository.state, ANYONE, async () => undefined),
  };
}
