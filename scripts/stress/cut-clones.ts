/** Shallow and partial clones at once: each must hold what one from git's own server holds. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { git, listRefs } from "../../test/harness/git.ts";
import type { Random } from "../../test/harness/random.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { demandSame, demandSameBytes } from "./same.ts";
import type { Scale } from "./scale.ts";
import { MAIN, type StressedRepository } from "./stressed-repository.ts";
import { UnexpectedAnswer } from "./target.ts";

/** Commits on top of the first, so that there is something to cut off. */
const COMMITS = 4;

const SHALLOW = "clone --depth=1";
const PARTIAL = "clone --filter=blob:none";

/** Options of clones by what they are called in the table. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  [SHALLOW]: ["--depth=1"],
  "clone --depth=3": ["--depth=3"],
  // Later than the first commit, and earlier than all others.
  "clone --shallow-since": ["--shallow-since=1700000030 +0000"],
  [PARTIAL]: ["--filter=blob:none"],
  "clone --filter=blob:limit": ["--filter=blob:limit=1k"],
  "clone --filter=tree:0": ["--filter=tree:0"],
};

/** Makes clones of every kind at once, and goes on with two of them: one is deepened to all there is, one asks for a blob that it lacks. */
export async function cloneCut(repository: StressedRepository, random: Random, scale: Scale): Promise<void> {
  for (let i = 0; i < COMMITS; i++) {
    const old = (await repository.look())?.get(MAIN);
    if (old === undefined) return;
    const next = await repository.history.change(old, 1, random);
    await repository.push("push 1 changed", { ref: MAIN, old, next });
  }
  const whole = await repository.clone("clone", true);
  if (whole === null) return;
  await git(whole, "config", "uploadpack.allowFilter", "true");
  for (let round = 0; round < scale.rounds; round++) {
    await Promise.all(Object.entries(KINDS).map(([kind, options]) => clone(repository, whole, kind, options, random)));
  }
  rmSync(whole, { recursive: true, force: true });
}

async function clone(
  repository: StressedRepository,
  whole: string,
  kind: string,
  options: readonly string[],
  random: Random,
): Promise<void> {
  const dir = makeTempDir("cut");
  const [served, native] = [join(dir, "served.git"), join(dir, "native.git")];
  const command = ["clone", "-q", "--bare", ...options];
  if (await runGit(repository, kind, dir, [...command, repository.url, served])) {
    await repository.verifyCut(kind, served, async () => {
      await git(dir, ...command, `file://${whole}`, native);
      demandSame("what is in it", await tellContents(served), await tellContents(native));
    });
    if (kind === SHALLOW) await deepen(repository, whole, served);
    if (kind === PARTIAL) await readLacking(repository, served, random);
  }
  rmSync(dir, { recursive: true, force: true });
}

async function deepen(repository: StressedRepository, whole: string, dir: string): Promise<void> {
  const operation = "fetch --unshallow";
  const args = ["fetch", "-q", "--unshallow", repository.url, "+refs/*:refs/*"];
  if (!(await runGit(repository, operation, dir, args))) return;
  await repository.verifyCut(operation, dir, async () => {
    demandSame("what is in it", await tellContents(dir), await tellContents(whole));
  });
}

async function readLacking(repository: StressedRepository, dir: string, random: Random): Promise<void> {
  const name = `${MAIN}:${repository.history.pickPath(random)}`;
  const [operation, oid] = ["fetch of a lacking blob", await git(dir, "rev-parse", name)];
  const bytes = await repository.run(operation, async () => {
    const { code, stdoutBytes, stderr } = await repository.target.git(dir, "cat-file", "blob", oid);
    if (code !== 0) throw new UnexpectedAnswer(`git cat-file ended with ${code}: ${stderr}`);
    return stdoutBytes;
  });
  if (bytes === null) return;
  await repository.check(operation, async () =>
    demandSameBytes(name, bytes, await repository.history.tellBytes("cat-file", "blob", oid)),
  );
}

/** @returns whether it went well */
async function runGit(
  repository: StressedRepository,
  operation: string,
  dir: string,
  args: readonly string[],
): Promise<boolean> {
  const isDone = await repository.run(operation, async () => {
    const { code, stderr } = await repository.target.git(dir, ...args);
    if (code !== 0) throw new UnexpectedAnswer(`git ${args[0]} ended with ${code}: ${stderr}`);
    return true;
  });
  return isDone === true;
}

/** Refs, every object that is there, and where history is cut off. */
async function tellContents(dir: string): Promise<string> {
  const objects = await git(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)");
  const shallow = join(dir, "shallow");
  const cut = existsSync(shallow) ? readFileSync(shallow, "utf8").split("\n").toSorted().join("\n") : "";
  return [await listRefs(dir), objects, cut].join("\n");
}
