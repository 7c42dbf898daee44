/** The repositories that are pushed and fetched. */
import { basename, join } from "node:path";
import { fastImport, formatCommit, type Subject } from "../../../test/harness/fast-import.ts";
import { git, gitBytes } from "../../../test/harness/git.ts";
import { makeHistory } from "../../../test/harness/history.ts";
import { sendPush } from "../../../test/harness/raw-push.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";

/** Opens a repository from a bundle, or from anything else that git can clone. */
async function openSubject(source: string): Promise<Subject> {
  const dir = join(makeTempDir("subject"), "subject.git");
  await git(".", "clone", "-q", "--mirror", source, dir);
  return { name: basename(source).replace(/\.(bundle|git)$/, ""), dir };
}

/** Opens the named repositories; without any, generates one. */
export async function openSubjects(sources: readonly string[]): Promise<Subject[]> {
  return sources.length === 0 ? [await makeSubject()] : Promise.all(sources.map(openSubject));
}

/** The commit that the latest branch of a repository points at. */
export function findTip(dir: string): Promise<string> {
  const latest = ["--sort=-committerdate", "--count=1", "--format=%(objectname)", "refs/heads"];
  return git(dir, "for-each-ref", ...latest);
}

/** Generates a history of text files, well packed, so that the client's share of a push is
 * small. */
export async function makeSubject(): Promise<Subject> {
  const dir = await makeHistory({ commits: 3000, files: 300, branches: 20, merges: 15, tags: 30 });
  await git(dir, "repack", "-q", "-a", "-d", "-f");
  return { name: "made-up history", dir };
}

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
