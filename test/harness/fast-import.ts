/** Streams for git fast-import. @see git-fast-import(1) */
import { spawn } from "node:child_process";
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
