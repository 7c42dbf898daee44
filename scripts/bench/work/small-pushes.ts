/** Very many small commits, each as a thin pack made by git, as a client would send it. */
import { join } from "node:path";
import { git, gitBytes } from "../../../test/harness/git.ts";
import { sendPush } from "../../../test/harness/raw-push.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { fastImport, formatCommit } from "../../../test/harness/fast-import.ts";

/** One push. */
export interface SmallPush {
  readonly old: string;
  readonly new: string;
  readonly pack: Buffer;
}

/** Files that are changed one after the other, in a folder of their own. */
const FILES = 100;

/** Commits are numbered, and dated, from here: later than those of any history. */
const LATER = 5_000_000;

/** Commits that are made in one go. */
const BATCH = 100;

const REF = "refs/heads/small-pushes";

/** Makes commits on top of one.
 * @param dir a repository with `tip`; it is not changed */
export async function* makeSmallPushes(dir: string, tip: string, count: number): AsyncGenerator<SmallPush, void, void> {
  const made = join(makeTempDir("small-pushes"), "made.git");
  await git(".", "clone", "-q", "--bare", "--shared", dir, made);
  await git(made, "update-ref", REF, tip);
  let old = tip;
  for (let first = 0; first < count; first += BATCH) {
    const commits = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => {
      const number = first + index;
      const text = `Push ${number}\n${"a line of the note\n".repeat(1 + (number % 20))}`;
      const parent = index === 0 ? `${REF}^0` : undefined;
      return formatCommit("small-pushes", LATER + number, [[`small-pushes/note-${number % FILES}`, text]], parent);
    });
    await fastImport(made, commits.join(""));
    for (const oid of (await git(made, "rev-list", "--reverse", `${old}..${REF}`)).split("\n")) {
      const options = ["pack-objects", "-q", "--thin", "--revs", "--stdout", "--delta-base-offset"];
      const pack = await gitBytes(made, options, { stdin: `${oid}\n^${old}\n` });
      yield { old, new: oid, pack };
      old = oid;
    }
  }
}

/** Pushes to the branch `small-pushes`.
 * @param creates whether the branch does not exist yet
 * @returns how long it took, ms
 * @throws Error if it is refused */
export async function sendSmallPush(url: string, push: SmallPush, creates: boolean): Promise<number> {
  const start = performance.now();
  const command = { name: REF, ...(creates ? {} : { old: push.old }), new: push.new };
  const { refs, status, text } = await sendPush(url, { commands: [command], pack: push.pack });
  const ms = performance.now() - start;
  if (refs.get(REF) !== null) throw new Error(`a push was refused: ${status} ${text.slice(0, 300)}`);
  return ms;
}
