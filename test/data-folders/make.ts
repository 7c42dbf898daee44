// Makes a data folder of this version, to be opened by the versions after it: run it once, before
// the stored shape changes. `node test/data-folders/make.ts schema-3`
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { describeRepository, REPOSITORY } from "./contents.ts";

const [name] = process.argv.slice(2);
if (name === undefined) throw new Error("usage: node test/data-folders/make.ts NAME");
const target = join(import.meta.dirname, name);
mkdirSync(target);
const server = await startServer({
  persistDir: join(target, "data"),
  vars: { LIMITS: JSON.stringify({ pruneGraceMs: 0 }) },
});
const remote = `${server.url}/${REPOSITORY}.git`;
const dir = await makeHistory({ commits: 60, files: 20, branches: 3, merges: 2, upheavals: 6, tags: 4 });
const post = async (path: string): Promise<void> => {
  const response = await fetch(`${server.url}/api/repos/${REPOSITORY}${path}`, { method: "POST" });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
};
await git(dir, "push", "--mirror", remote);
// Above 256 KiB, so that it goes to R2 at once.
const clone = makeTempDir("clone");
await git(clone, "clone", "--quiet", dir, ".");
await git(clone, "checkout", "--quiet", "-b", "large");
writeFileSync(join(clone, "noise.bin"), randomBytes(264_000));
await git(clone, "add", ".");
await git(clone, "commit", "--quiet", "-m", "noise");
await git(clone, "push", remote, "large");
// Unreachable, and pruned.
await git(clone, "checkout", "--quiet", "-b", "doomed", "main");
for (const content of ["one", "two"]) {
  writeFileSync(join(clone, "doomed.txt"), content);
  await git(clone, "add", ".");
  await git(clone, "commit", "--quiet", "-m", content);
  await git(clone, "push", remote, "doomed");
}
await git(clone, "push", remote, ":doomed");
await post("/maintenance");
// Enough small pushes for their chunks to be joined, and some after it.
await git(clone, "checkout", "--quiet", "main");
for (let i = 0; i < 70; i++) {
  writeFileSync(join(clone, "counter.txt"), `${i}\n`.repeat(i + 1));
  await git(clone, "add", ".");
  await git(clone, "commit", "--quiet", "-m", `count to ${i}`);
  await git(clone, "push", remote, "main");
  if (i === 66) await post("/maintenance");
}
await fetch(`${server.url}/api/repos/${REPOSITORY}/stats`);
writeFileSync(join(target, "contents.json"), `${JSON.stringify(await describeRepository(remote), null, 2)}\n`);
await server.close();
// Everything from the write-ahead logs into the databases, which are kept small.
for (const file of await readdir(target, { recursive: true })) {
  if (!file.endsWith(".sqlite")) continue;
  const database = new DatabaseSync(join(target, file));
  database.exec("PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}
