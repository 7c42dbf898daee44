/** Worktrees of a repository in memory, compared with what git itself lists. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { worktreeFileKey } from "../../../src/object/worktree/file-key.ts";
import { toHex } from "../../../src/base/format/oid.ts";
import type { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import type { WorktreeFile } from "../../../src/object/store/jobs/worktree-table.ts";
import { git, tryGit } from "../../harness/git.ts";
import type { PushedRepository } from "../pushing.ts";

/** The files of a commit as git lists them: `<mode> <oid>` by path as a byte string; submodules are
 * left out. */
export async function listFiles(dir: string, revision: string): Promise<Map<string, string>> {
  const { stdoutBytes } = await tryGit(dir, ["ls-tree", "-r", "-z", revision]);
  const lines = stdoutBytes.toString("latin1").split("\0").slice(0, -1);
  return new Map(
    lines
      .map((line) => /^(\d+) (\w+) (\w+)\t([^]*)$/.exec(line)!)
      .filter(([, , type]) => type === "blob")
      .map(([, mode, , oid, path]) => [path!, `${mode} ${oid}`]),
  );
}

/** Every row of a branch's manifest; null: there is no worktree. */
export function manifest({ tables }: PushedRepository, branch: string): WorktreeFile[] | null {
  const worktree = tables.worktrees.get(branch);
  return worktree === null ? null : tables.worktrees.files(worktree.id, "", "", 1_000_000);
}

/** Compares a branch's worktree with a commit.
 * @param revision null: the worktree is gone */
export async function expectWorktree(
  repository: PushedRepository,
  store: MemoryChunkStore,
  dir: string,
  branch: string,
  revision: string | null,
): Promise<void> {
  const tip = revision === null ? null : await git(dir, "rev-parse", `${revision}^{commit}`);
  await expectFiles(repository, store, branch, tip, tip === null ? new Map() : await listFiles(dir, tip));
}

/** Compares a branch's worktree with the result of `listFiles`: its manifest, its R2 objects with
 * their metadata, and that there are no others.
 * @param tip the commit's id, null: the worktree is gone */
export async function expectFiles(
  repository: PushedRepository,
  store: MemoryChunkStore,
  branch: string,
  tip: string | null,
  expected: ReadonlyMap<string, string>,
): Promise<void> {
  const { key } = repository.repository.state;
  const rows = manifest(repository, branch);
  const worktree = repository.tables.worktrees.get(branch);
  if (tip === null) expect(worktree).toBeNull();
  else expect(toHex(worktree!.materialized!)).toBe(tip);
  const shown = (rows ?? []).map(({ path, mode, oid }) => [path, `${mode.toString(8).padStart(6, "0")} ${toHex(oid)}`]);
  expect(new Map(shown as [string, string][])).toEqual(expected);
  expect(worktree?.files ?? 0).toBe(expected.size);
  expect(worktree?.sizeBytes ?? 0).toBe((rows ?? []).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  const keys = new Set<string>();
  for (const { path, oid, mode, sizeBytes, etag } of rows ?? []) {
    const fileKey = worktreeFileKey(key, branch, path);
    keys.add(fileKey);
    expect(store.labelOf(fileKey)!.metadata).toEqual({ oid: toHex(oid), mode: mode.toString(8).padStart(6, "0") });
    const opened = sizeBytes === 0 ? new Blob([]).stream() : await store.openFile(fileKey, etag!, 0, sizeBytes);
    const content = Buffer.from(await new Response(opened as never).arrayBuffer());
    const hash = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
    expect([path, hash]).toEqual([path, toHex(oid)]);
  }
  const prefix = `${worktreeFileKey(key, branch, "x").slice(0, -2)}`;
  const stored = await Array.fromAsync(store.list(prefix));
  const own = stored.filter((stored) => stored.startsWith(`${prefix}/`) || stored.startsWith(`${prefix}%/`));
  expect(new Set(own)).toEqual(keys);
}

/** A file of a commit: its bytes, and its mode unless that is 100644. */
export type MadeFile = string | Uint8Array | { readonly mode: string; readonly content: string | Uint8Array };

/** Makes a commit of exactly these files, and points a branch at it.
 * @param files by path, a byte string; for a submodule, the content is the commit's id
 * @returns its id */
export async function commitFiles(
  dir: string,
  branch: string,
  files: Readonly<Record<string, MadeFile>>,
): Promise<string> {
  const ref = `refs/heads/${branch}`;
  const { code } = await tryGit(dir, ["rev-parse", "-q", "--verify", ref]);
  const stream: (string | Uint8Array)[] = [
    `commit ${ref}\ncommitter A <a@example.com> 1700000000 +0000\ndata 2\nx\n`,
    code === 0 ? `from ${ref}^0\n` : "",
    "deleteall\n",
  ];
  for (const [path, file] of Object.entries(files)) {
    const { mode, content } =
      typeof file === "string" || file instanceof Uint8Array ? { mode: "100644", content: file } : file;
    const quoted = path.replace(/[^ -!#-[\]-~]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
    if (mode === "160000") stream.push(`M ${mode} ${content as string} "${quoted}"\n`);
    else stream.push(`M ${mode} inline "${quoted}"\ndata ${Buffer.byteLength(content)}\n`, content, "\n");
  }
  const stdin = Buffer.concat(stream.map((piece) => Buffer.from(piece)));
  const result = await tryGit(dir, ["fast-import", "--quiet", "--force"], { stdin });
  if (result.code !== 0) throw new Error(result.stderr);
  return git(dir, "rev-parse", ref);
}
