import { join } from "node:path";
import { expect } from "vitest";
import { git, listRefs, makeRepository, tryGit } from "../harness/git.ts";
import { type NativeServer, startNative } from "../harness/native.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** What module memory and buffers together may take at any time of a push or clone. */
const MEMORY_LIMIT_BYTES = 64 * 1024 * 1024;

/** Moves all refs of a repository to the one at `url`. */
type Push = (origin: string, url: string) => Promise<unknown>;

/** Pushes all refs of a repository to a server of its own, and clones it as a mirror. Refs must be
 * the same, fsck must report nothing, and memory must stay below its limit. Prints time and memory
 * of both, next to those of git's own server.
 * @param origin a repository, bare or not
 * @param push the way to push; default `git push`
 * @returns the clone's directory, which stays until the run ends */
export async function checkRoundTrip(name: string, origin: string, push: Push = pushMirror): Promise<string> {
  const server = await startServer();
  const root = makeTempDir("native");
  await git(root, "init", "-q", "--bare", "large.git");
  const native = await startNative(root);
  try {
    return await compare(name, origin, { server, native, push });
  } finally {
    await Promise.all([server.close(), native.close()]);
  }
}

async function compare(
  name: string,
  origin: string,
  { server, native, push }: { server: Server; native: NativeServer; push: Push },
): Promise<string> {
  const nativePushMs = await measure(() => push(origin, `${native.url}/large.git`));
  const nativeCloneMs = await measure(() => clone(`${native.url}/large.git`));
  const url = `${server.url}/me/large.git`;
  const pushMs = await measure(() => push(origin, url));
  const pushed = await server.takeEvent("push");
  const pushRssBytes = server.readUsage().peakMemoryBytes;
  // Frees the memory of the push, to measure that of the clone alone.
  await server.restart();
  let mirror = "";
  const cloneMs = await measure(async () => (mirror = await clone(url)));
  const fetched = await server.takeEvent("fetch");
  const cloneRssBytes = server.readUsage().peakMemoryBytes;
  const figures = {
    objects: pushed.objects,
    "pack MB": inMegabytes(pushed.packBytes),
    "ms (git's)": `push ${pushMs} (${nativePushMs}), clone ${cloneMs} (${nativeCloneMs})`,
    "index, apply ms": `${pushed.indexMs}, ${pushed.applyMs}`,
    "peak MB": `push ${inMegabytes(pushed.peakBytes)}, clone ${inMegabytes(fetched.peakBytes)}`,
    "workerd's RSS MB": `push ${inMegabytes(pushRssBytes)}, clone ${inMegabytes(cloneRssBytes)}`,
    "R2 operations": `push ${pushed.operations.puts + pushed.operations.parts}, clone ${fetched.operations.gets}`,
  };
  console.log(name, JSON.stringify(figures, null, 2));
  expect(await listRefs(mirror)).toBe(await listRefs(origin));
  expect(await git(mirror, "fsck", "--full")).toBe("");
  expect(fetched).toMatchObject({ objects: pushed.objects, complete: true });
  expect(pushed.peakBytes).toBeLessThanOrEqual(MEMORY_LIMIT_BYTES);
  expect(fetched.peakBytes).toBeLessThanOrEqual(MEMORY_LIMIT_BYTES);
  return mirror;
}

function pushMirror(origin: string, url: string): Promise<string> {
  return git(origin, "push", "-q", "--mirror", url);
}

async function clone(url: string): Promise<string> {
  const dir = join(makeTempDir("clone"), "clone.git");
  await git(makeTempDir("cwd"), "clone", "-q", "--mirror", url, dir);
  return dir;
}

async function measure(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return Math.round(performance.now() - start);
}

function inMegabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10;
}

/** Makes a bare repository from a fast-import stream.
 * @see git-fast-import(1) */
export async function importRepository(stream: Iterable<string>): Promise<string> {
  const dir = await makeRepository("large.git", "--bare");
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: [...stream].join("") });
  if (code !== 0) throw new Error(`git fast-import ended with ${code}:\n${stderr}`);
  return dir;
}

/** A commit without its changes, for a fast-import stream. */
export function importCommit(number: number): string {
  return `commit refs/heads/main\ncommitter Ada Example <ada@example.com> ${1_700_000_000 + number} +0100\ndata 0\n`;
}

/** A file with one line of text, for a fast-import stream. */
export function importFile(path: string, line: string): string {
  return `M 100644 inline ${path}\ndata ${line.length + 1}\n${line}\n\n`;
}
