/** Streams for git fast-import, and repositories that are made of them. @see git-fast-import(1) */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { gitBytes, gitEnv, makeRepository } from "./git.ts";

/** The line that says who made a commit; a date follows. */
export const COMMITTER = "committer Ada Example <ada@example.com>";

/** How much of a fast-import stream is generated at a time. */
const PIECE_BYTES = 1024 * 1024;

/** Feeds a stream to git fast-import in a repository.
 * @param config a setting of git
 * @throws Error with git's message */
export async function fastImport(dir: string, stdin: string | Uint8Array, config = "core.bare=true"): Promise<void> {
  await gitBytes(dir, ["-c", config, "fast-import", "--quiet"], { stdin });
}

/** A commit of a fast-import stream, on top of its branch.
 * @param files ASCII
 * @param parent needed where the stream itself does not determine it */
export function formatCommit(
  branch: string,
  number: number,
  files: readonly (readonly [path: string, text: string])[],
  parent?: string,
): string {
  const message = `Commit ${number}\n`;
  const changes = files.map(([path, text]) => `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`);
  return [
    `commit refs/heads/${branch}\n${COMMITTER} ${1_500_000_000 + 60 * number} +0000\n`,
    `data ${message.length}\n${message}`,
    parent === undefined ? "" : `from ${parent}\n`,
    ...changes,
    "\n",
  ].join("");
}

/** Makes a bare repository from a fast-import stream.
 * @returns its path */
export async function importStream(write: () => Iterable<string>): Promise<string> {
  const dir = await makeRepository("imported.git", "--bare");
  const child = spawn("git", ["fast-import", "--quiet"], {
    cwd: dir,
    env: gitEnv(),
    stdio: ["pipe", "ignore", "inherit"],
  });
  const ended = once(child, "close");
  await pipeline(joinPieces(write()), child.stdin);
  const [code] = (await ended) as [number];
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  return dir;
}

function* joinPieces(texts: Iterable<string>): Generator<string> {
  let piece = "";
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE_BYTES) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

/** A bare repository. */
export interface Subject {
  readonly name: string;
  readonly dir: string;
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
