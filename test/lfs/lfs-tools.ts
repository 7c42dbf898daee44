import { execFileSync } from "node:child_process";

const MODULE = "github.com/git-lfs/git-lfs/v3";

/** Finds the client of Git LFS and its server test on the PATH, and makes git use the client.
 * @returns the environment for git
 * @throws Error that says how to get them */
export function findLfsTools(home: string): Record<string, string> {
  for (const command of ["git-lfs", "git-lfs-test-server-api"]) {
    try {
      execFileSync("sh", ["-c", `command -v ${command}`]);
    } catch {
      throw new Error(
        `${command} is not on the PATH. With Go: go install ${MODULE}@v3.8.1 ${MODULE}/t/git-lfs-test-server-api@v3.8.1, then add "$(go env GOPATH)/bin" to the PATH`,
      );
    }
  }
  const env = { HOME: home, GIT_CONFIG_GLOBAL: `${home}/config`, GIT_LFS_FORCE_PROGRESS: "0" };
  execFileSync("git", ["lfs", "install", "--skip-repo"], { env: { ...process.env, ...env } });
  return env;
}
