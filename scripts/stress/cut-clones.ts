/** Shallow and partial clones at once: each must have the same content as one from git's own
 * server. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { git, listRefs } from "../../test/harness/git.ts";
import type { Random } from "../../test/harness/random.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { demandSame } from "../verify/report.ts";
import { MAIN, type StressedRepository } from "./stressed-repository.ts";

/** Commits on top of the first, so that history can be truncated. */
const COMMITS = 4;

const SHALLOW = "--depth=1";
const PARTIAL = "--filter=blob:none";

/** Options of clones. The time is later than the first commit, and earlier than all others. */
const KINDS = [
  SHALLOW,
  "--depth=3",
  "--shallow-since=1700000030 +0000",
  PARTIAL,
  "--filter=blob:limit=1k",
  "--filter=tree:0",
];

/** Makes clones of every kind at once. Two of them continue: one is deepened to the whole history,
 * one fetches a missing blob. */
export async function cloneCut(
  repository: StressedRepository,
  random: Random,
  { rounds }: { readonly rounds: number },
): Promise<void> {
  for (let i = 0; i < COMMITS; i++) await repository.grow("push 1 changed", 1, random);
  const whole = await repository.clone("clone", true);
  if (whole === null) return;
  await git(whole, "config", "uploadpack.allowFilter", "true");
  for (let round = 0; round < rounds; round++)
    await Promise.all(KINDS.map((option) => cloneKind(repository, whole, option, random)));
  rmSync(whole, { recursive: true, force: true });
}

async function cloneKind(repository: StressedRepository, whole: string, option: string, random: Random): Promise<void> {
  const { target, url } = repository;
  const operation = `clone ${option.split(/ |(?<=limit)=|(?<=since)=/)[0]}`;
  const dir = makeTempDir("cut");
  const [served, native] = [join(dir, "served.git"), join(dir, "native.git")];
  const command = ["clone", "-q", "--bare", option];
  if ((await repository.run(operation, () => target.demandGit(dir, ...command, url, served))) !== null) {
    await repository.verifyCut(operation, served, async () => {
      await git(dir, ...command, `file://${whole}`, native);
      demandSame("what is in it", await tellContents(served), await tellContents(native));
    });
    if (option === SHALLOW) await deepen(repository, whole, served);
    if (option === PARTIAL) await readLacking(repository, served, random);
  }
  rmSync(dir, { recursive: true, force: true });
}

async function deepen(repository: StressedRepository, whole: string, dir: string): Promise<void> {
  const operation = "fetch --unshallow";
  const args = ["fetch", "-q", "--unshallow", repository.url, "+refs/*:refs/*"];
  if ((await repository.run(operation, () => repository.target.demandGit(dir, ...args))) === null) return;
  await repository.verifyCut(operation, dir, async () => {
    demandSame("what is in it", await tellContents(dir), await tellContents(whole));
  });
}

async function readLacking(repository: StressedRepository, dir: string, random: Random): Promise<void> {
  const name = `${MAIN}:${repository.history.pickPath(random)}`;
  const [operation, oid] = ["fetch of a lacking blob", await git(dir, "rev-parse", name)];
  const blob = ["cat-file", "blob", oid];
  const found = await repository.run(operation, () => repository.target.demandGit(dir, ...blob));
  if (found === null) return;
  await repository.check(operation, async () => {
    demandSame(name, found.stdoutBytes, await repository.history.tellBytes(...blob));
  });
}

/** Refs, all present objects, and the shallow boundary. */
async function tellContents(dir: string): Promise<string> {
  const objects = await git(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)");
  const shallow = join(dir, "shallow");
  const cut = existsSync(shallow) ? readFileSync(shallow, "utf8").split("\n").toSorted().join("\n") : "";
  return [await listRefs(dir), objects, cut].join("\n");
}
