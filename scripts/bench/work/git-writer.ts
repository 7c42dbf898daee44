/** Somebody who saves with git, in a clone of their own. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { git, tryGit } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { type Edit, subjectOf } from "./edit.ts";
import { MAX_ATTEMPTS, type Saved, StepClock, type Writer } from "./writer.ts";

/** Clones a repository to save there. */
export async function openGitWriter(url: string, branch: string): Promise<Writer> {
  const dir = join(makeTempDir("writer"), "clone");
  await git(".", "clone", "-q", "-b", branch, url, dir);
  return {
    url,
    branch,
    catchUp: async () => void (await git(dir, "pull", "-q", "--ff-only")),
    save: (edit) => save(dir, branch, edit),
  };
}

/** Changes the file, `git add`, `git commit`, `git pull`, `git push`; the last two until nobody else was faster. */
async function save(dir: string, branch: string, edit: Edit): Promise<Saved> {
  const clock = new StepClock();
  const start = performance.now();
  let [merges, conflicts, retries] = [0, 0, 0];
  await commit(dir, edit, clock);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const pulled = await clock.time("pull", () => pull(dir));
    if (pulled === "conflict") {
      conflicts += 1;
      await git(dir, "reset", "-q", "--hard", `origin/${branch}`);
      await commit(dir, edit, clock);
      continue;
    }
    if (pulled === "merged") merges += 1;
    if (await clock.time("push", () => push(dir, branch))) {
      return { steps: { ...clock.steps, total: performance.now() - start }, merges, conflicts, retries };
    }
    retries += 1;
  }
  throw new Error(`${subjectOf(edit.number)}: ${MAX_ATTEMPTS} attempts did not get it into ${branch}`);
}

async function commit(dir: string, edit: Edit, clock: StepClock): Promise<void> {
  const path = join(dir, edit.path);
  const was = edit.needsText ? readFileSync(path, "utf8") : "";
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, edit.write(was));
  await clock.time("add", () => git(dir, "add", edit.path));
  await clock.time("commit", () => git(dir, "commit", "-q", "-m", subjectOf(edit.number)));
}

async function pull(dir: string): Promise<"up to date" | "merged" | "conflict"> {
  const { code, stdout, stderr } = await tryGit(dir, ["pull", "--no-rebase", "--no-edit"]);
  if (code === 0) return stdout.includes("Merge made by") ? "merged" : "up to date";
  if (stdout.includes("CONFLICT")) return "conflict";
  throw new Error(`git pull ended with ${code}:\n${stdout}${stderr}`);
}

/** @returns whether the branch moved; it does not when somebody else was faster */
async function push(dir: string, branch: string): Promise<boolean> {
  const { code, stderr } = await tryGit(dir, ["push", "-q", "origin", branch]);
  if (code === 0) return true;
  // `[rejected]` by the client, which sees that it is behind; `[remote rejected]` by the server, in the race for the ref.
  if (/rejected\]/.test(stderr)) return false;
  throw new Error(`git push ended with ${code}:\n${stderr}`);
}
