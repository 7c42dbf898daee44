/** The client of Git LFS and its test of servers. */
import { execFile } from "node:child_process";
import { delimiter } from "node:path";
import { promisify } from "node:util";
import { buildGoTools } from "./go-tools.ts";

const VERSION = "v3.8.1";
const MODULE = "github.com/git-lfs/git-lfs/v3";
const COMMANDS = [MODULE, `${MODULE}/t/git-lfs-test-server-api`];

/** Builds both where they have not been built yet.
 * @returns a PATH on which they come first */
export async function buildLfsTools(): Promise<string> {
  return [await buildGoTools("git-lfs", VERSION, COMMANDS), process.env["PATH"]].join(delimiter);
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
