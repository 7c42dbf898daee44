/** The repositories that are pushed and fetched. */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { git, makeRepository, tryGit } from "../../test/harness/git.ts";
import { makeHistory } from "../../test/harness/history.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";

/** A bare repository. */
export interface Subject {
  readonly name: string;
  readonly dir: string;
}

/** Takes a repository from a bundle, or from wherever else git can clone it. */
export async function openSubject(source: string): Promise<Subject> {
  const dir = join(makeTempDir("subject"), "subject.git");
  await git(".", "clone", "-q", "--mirror", source, dir);
  return { name: basename(source).replace(/\.(bundle|git)$/, ""), dir };
}

/** Makes up a history of text files, packed well, so that the client's part in a push is small. */
export async function makeSubject(): Promise<Subject> {
  const dir = await makeHistory({ commits: 3000, files: 300, branches: 20, merges: 15, tags: 30 });
  await git(dir, "repack", "-q", "-a", "-d", "-f");
  return { name: "made-up history", dir };
}

/** Makes one commit of files that hold 8 KB of base64 noise each, the same ones every time. Its objects are loose, as
 * `git add` leaves them: the client packs them as it pushes. */
export async function makeNoise(files: number): Promise<Subject> {
  const dir = await makeRepository("noise.git", "--bare");
  const stream = ["commit refs/heads/main\ncommitter Ada Example <ada@example.com> 1700000000 +0000\ndata 6\nNoise\n"];
  for (let number = 0; number < files; number++) {
    const noise = createHash("shake256", { outputLength: 6144 }).update(String(number)).digest("base64");
    stream.push(`M 100644 inline dir-${number % 50}/file-${number}.txt\ndata ${noise.length}\n${noise}\n`);
  }
  const importing = ["-c", `fastimport.unpackLimit=${2 * files + 1000}`, "fast-import", "--quiet"];
  const { code, stderr } = await tryGit(dir, importing, { stdin: stream.join("") });
  if (code !== 0) throw new Error(`git fast-import ended with ${code}:\n${stderr}`);
  return { name: `${files} files of noise`, dir };
}
