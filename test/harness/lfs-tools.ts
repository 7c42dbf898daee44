/** The client of Git LFS and its test of servers, which npm does not bring: built by Go from their
 * sources, once until the next `npm ci`. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { PROJECT } from "./build.ts";

const VERSION = "v3.8.1";
const MODULE = "github.com/git-lfs/git-lfs/v3";
const COMMANDS = [MODULE, `${MODULE}/t/git-lfs-test-server-api`];

/** Builds both where they have not been built yet.
 * @returns a PATH on which they come first
 * @throws Error that says what is missing */
export async function buildLfsTools(): Promise<string> {
  const cache = join(PROJECT, "node_modules/.cache");
  const dir = join(cache, `git-lfs-${VERSION}`);
  if (!existsSync(dir)) {
    await mkdir(cache, { recursive: true });
    const building = await mkdtemp(`${dir}-`);
    await promisify(execFile)("go", ["install", ...COMMANDS.map((path) => `${path}@${VERSION}`)], {
      env: { ...process.env, GOBIN: building },
    }).catch((error: unknown) => {
      throw new Error("the client of Git LFS cannot be built: Go must be on the PATH, and reach its modules", {
        cause: error,
      });
    });
    // Renamed into place as a whole. Whoever comes second discards its copy.
    await rename(building, dir).catch(() => rm(building, { recursive: true }));
  }
  return [dir, process.env["PATH"]].join(delimiter);
}

/** Builds both, and makes a home in which git uses the client.
 * @returns the environment for git */
export async function setUpLfs(home: string): Promise<Record<string, string>> {
  const env = {
    HOME: home,
    GIT_CONFIG_GLOBAL: `${home}/config`,
    GIT_LFS_FORCE_PROGRESS: "0",
    PATH: await buildLfsTools(),
  };
  await promisify(execFile)("git", ["lfs", "install", "--skip-repo"], { env: { ...process.env, ...env } });
  return env;
}
