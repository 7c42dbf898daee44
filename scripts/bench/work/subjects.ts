/** The repositories that are pushed and fetched. */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { COMMITTER, fastImport, formatCommit, importStream } from "../../../test/harness/fast-import.ts";
import { git, makeRepository } from "../../../test/harness/git.ts";
import { makeHistory } from "../../../test/harness/history.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";

/** A bare repository. */
export interface Subject {
  readonly name: string;
  readonly dir: string;
}

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

/** 8 KB of base64 noise, the same for the same seed. */
export function noiseText(seed: string): string {
  return createHash("shake256", { outputLength: 6144 }).update(seed).digest("base64");
}

/** Makes one commit of files with 8 KB of base64 noise each, always the same. Its objects are
 * loose, as `git add` leaves them: the client packs them when it pushes. */
export async function makeNoise(files: number): Promise<Subject> {
  const dir = await makeRepository("noise.git", "--bare");
  const stream = ["commit refs/heads/main\n", `${COMMITTER} 1700000000 +0000\ndata 6\nNoise\n`];
  for (let number = 0; number < files; number++) {
    const noise = noiseText(String(number));
    stream.push(`M 100644 inline dir-${number % 50}/file-${number}.txt\ndata ${noise.length}\n${noise}\n`);
  }
  await fastImport(dir, stream.join(""), `fastimport.unpackLimit=${2 * files + 1000}`);
  return { name: `${files} files of noise`, dir };
}

/** Adds a commit on top of `main` that changes one file.
 * @param branch the branch to create
 * @param text ASCII */
export async function addCommit({ dir }: Subject, branch: string, path: string, text: string): Promise<void> {
  const head = `commit refs/heads/${branch}\n${COMMITTER} 1700000060 +0000\ndata 4\nNext\nfrom refs/heads/main^0\n`;
  await fastImport(dir, `${head}M 100644 inline ${path}\ndata ${text.length}\n${text}\n`);
}

/** Makes a linear history of small trees: 40 files in 8 folders. Each commit changes one file. */
export async function makeLongHistory(commits: number): Promise<Subject> {
  const dir = await importStream(function* () {
    for (let number = 0; number < commits; number++) {
      const text = `Version ${number}\n${createHash("sha1").update(String(number)).digest("hex")}\n`;
      yield formatCommit("main", number, [[`dir-${number % 8}/file-${number % 40}.txt`, text]]);
    }
  });
  return { name: `${commits} commits`, dir };
}

/** Makes a history of 500 commits, and branches from its tip with one commit and one file each. */
export async function makeBranches(branches: number): Promise<Subject> {
  const dir = await importStream(function* () {
    for (let number = 0; number < 500; number++) {
      yield formatCommit("main", number, [[`dir-${number % 8}/file-${number % 40}.txt`, `Version ${number}\n`]]);
    }
    for (let number = 0; number < branches; number++) {
      yield `reset refs/heads/branch-${number}\nfrom refs/heads/main\n\n`;
      yield formatCommit(`branch-${number}`, 500 + number, [[`own-${number}.txt`, `Of branch ${number}\n`]]);
    }
  });
  return { name: `${branches} branches`, dir };
}
