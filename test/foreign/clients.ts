/** Git clients that share no code with git. All but the first are installed or built from the
 * package registries of their languages. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ISOMORPHIC_GIT } from "./isomorphic-git.ts";
import { programClient, runProgram } from "./program.ts";
import type { ForeignClient } from "./works.ts";

/** Installs each client.
 * @param dir where */
export const CLIENTS: Readonly<Record<string, (dir: string) => Promise<ForeignClient>>> = {
  "isomorphic-git": async () => ISOMORPHIC_GIT,
  pygit2: (dir) => installPython(dir, "pygit2"),
  dulwich: (dir) => installPython(dir, "dulwich"),
  async "go-git"(dir) {
    const program = join(dir, "go-client");
    const build = ["go", "build", "-mod=readonly", "-o", program, "."];
    if (!existsSync(program)) await install(build, join(import.meta.dirname, "go-git"));
    return programClient("go-git", [program]);
  },
  async gix(dir) {
    const program = join(dir, "target/debug/holdfast-foreign");
    if (!existsSync(program)) {
      // The lock file is not committed, because it names Cargo's registry; Cargo writes it here.
      mkdirSync(join(dir, "gix/src"), { recursive: true });
      for (const file of ["Cargo.toml", "src/main.rs"])
        copyFileSync(join(import.meta.dirname, "gix", file), join(dir, "gix", file));
      await install(["cargo", "build", "--target-dir", join(dir, "target")], join(dir, "gix"));
    }
    return programClient("gix", [program]);
  },
};

/** Both Python clients use one environment. */
async function installPython(dir: string, name: string): Promise<ForeignClient> {
  const python = join(dir, "python/bin/python");
  if (!existsSync(python)) {
    await install(["python3", "-m", "venv", join(dir, "python")], dir);
    await install(
      [python, "-m", "pip", "install", "--require-hashes", "-r", join(import.meta.dirname, "python/requirements.txt")],
      dir,
    );
  }
  return programClient(name, [python, join(import.meta.dirname, `python/${name}_client.py`)]);
}

/** Installs or builds, with the user's whole environment for access to the network. */
function install(command: readonly string[], cwd: string): Promise<void> {
  return runProgram(command, { env: process.env, cwd });
}
