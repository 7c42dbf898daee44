import { encodeText } from "../../base/format/byte-string.ts";
import { worktreeFileKey } from "../worktree/file-key.ts";
import type { FsckRun, FsckStage } from "./fsck-run.ts";

/** Checks the R2 keys below the repository's id: each must be named by a row, pinned by another
 * repository, or named by a job that will sweep it. With `repair`, the others get such a job. */
export const checkKeys: FsckStage = async (run, after) => {
  const prefix = `${run.repository.state.key}/`;
  let owners: Owners | null = null;
  for await (const key of run.store.list(prefix, after === "" ? undefined : after)) {
    await run.step();
    owners ??= new Owners(run);
    run.checked.keys += 1;
    if (!owners.has(key)) {
      // It may be what a lost row named, and the only copy.
      const kept = run.repair && run.hasLostRows ? "; it is kept, as rows are lost" : "";
      run.report({ kind: "orphan", key, detail: `no row names it${kept}` });
      if (kept === "") sweepLater(run, key);
    }
    if (run.isSpent) return key;
  }
  return null;
};

/** A file of a worktree may be rewritten at any time, under the same key: only `materialize` may
 * remove it. */
function sweepLater(run: FsckRun, key: string): void {
  if (!run.repair || key.startsWith(`${run.repository.state.key}/worktrees/`)) return;
  run.tables.jobs.add("sweep", key, Date.now());
  run.repository.state.scheduleJobs();
  run.checked.repaired += 1;
}

/** The rows and jobs that own R2 keys. */
class Owners {
  readonly #run: FsckRun;
  readonly #sweeps: readonly string[];
  readonly #bundle: string | null;
  /** The folder of each worktree's files. */
  readonly #folders: readonly { readonly id: number; readonly folder: string; readonly branch: string }[];
  /** Keys of the files of each worktree, as far as they were asked for. */
  readonly #files = new Map<number, ReadonlySet<string>>();

  constructor(run: FsckRun) {
    this.#run = run;
    const { jobs, bundles, worktrees } = run.tables;
    this.#sweeps = jobs
      .all()
      .filter(({ kind }) => kind === "sweep")
      .map(({ key }) => key);
    this.#bundle = bundles.current()?.key ?? null;
    this.#folders = worktrees.all().map(({ id, branch }) => ({
      id,
      branch,
      folder: worktreeFileKey(run.repository.state.key, branch, "x").slice(0, -1),
    }));
  }

  /** Whether a row or job owns a key. */
  has(key: string): boolean {
    const { tables, repository } = this.#run;
    return (
      tables.chunks.hasKey(key) ||
      tables.lfs.hasKey(key) ||
      key === this.#bundle ||
      this.#hasFile(key) ||
      tables.responses.hasObject(key) ||
      // What a session has left is removed when it ends.
      tables.uploads.ownerOf(key) !== null ||
      tables.lfsUploads.findKey(key) !== null ||
      repository.state.pins.has(key) ||
      this.#sweeps.some((swept) => key === swept || (swept.endsWith("/") && key.startsWith(swept))) ||
      [...repository.state.activePrefixes].some((prefix) => key.startsWith(prefix)) ||
      // Writes that began meanwhile.
      tables.jobs.has("sweep", key)
    );
  }

  #hasFile(key: string): boolean {
    for (const { id, folder, branch } of this.#folders) {
      const isOwn = key.startsWith(folder);
      if (!isOwn && !key.startsWith(`${folder.slice(0, -1)}%/`)) continue;
      if (this.#keysOf(id, branch).has(key)) return true;
      // Files that were planned meanwhile.
      return isOwn && this.#run.tables.worktrees.has(id, encodeText(key.slice(folder.length)));
    }
    return false;
  }

  #keysOf(id: number, branch: string): ReadonlySet<string> {
    let keys = this.#files.get(id);
    if (keys === undefined) {
      const paths = this.#run.tables.worktrees.paths(id);
      keys = new Set(paths.map((path) => worktreeFileKey(this.#run.repository.state.key, branch, path)));
      this.#files.set(id, keys);
    }
    return keys;
  }
}
