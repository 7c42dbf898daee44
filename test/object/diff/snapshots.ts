import { tryGit } from "../../harness/git.ts";

/** A file of a snapshot: its bytes, and its mode unless 100644. A gitlink's content is the commit's
 * id. */
export type SnapshotFile = readonly [content: string | Uint8Array, mode?: "100644" | "100755" | "120000" | "160000"];

/** Files by path; paths of other characters than ASCII letters are quoted, as byte strings. */
export type Snapshot = Readonly<Record<string, SnapshotFile>>;

/** Commits snapshots, each on its own branch without parents.
 * @param snapshots by branch */
export async function commitSnapshots(dir: string, snapshots: Readonly<Record<string, Snapshot>>): Promise<void> {
  const stream: Buffer[] = [];
  for (const [branch, files] of Object.entries(snapshots)) {
    stream.push(
      Buffer.from(`reset refs/heads/${branch}\ncommit refs/heads/${branch}\ncommitter A <a@b> 1 +0000\ndata 0\n`),
    );
    for (const [path, [content, mode = "100644"]] of Object.entries(files)) {
      const quoted = `"${path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
      const bytes = typeof content === "string" ? Buffer.from(content, "latin1") : content;
      if (mode === "160000") stream.push(Buffer.from(`M ${mode} ${content as string} ${quoted}\n`, "latin1"));
      else {
        stream.push(Buffer.from(`M ${mode} inline ${quoted}\ndata ${bytes.length}\n`, "latin1"));
        stream.push(Buffer.from(bytes), Buffer.from("\n"));
      }
    }
  }
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: Buffer.concat(stream) });
  if (code !== 0) throw new Error(stderr);
}
