/** Runs Git clients that share no code with git, with Holdfast and with git's own server. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ISOMORPHIC_GIT } from "../../test/foreign/isomorphic-git.ts";
import { programClient, runProgram } from "../../test/foreign/program.ts";
import { type ForeignClient, type Work, WORKS } from "../../test/foreign/works.ts";
import { git } from "../../test/harness/git.ts";
import { startNative } from "../../test/harness/native.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { UsageError } from "../command-line.ts";
import { text } from "../options.ts";
import { defineCheck, SERVER } from "./check.ts";
import { showProgress } from "./report.ts";

const FOREIGN = join(import.meta.dirname, "../../test/foreign");

/** Installs each client.
 * @param dir where */
const CLIENTS: Readonly<Record<string, (dir: string) => Promise<ForeignClient>>> = {
  "isomorphic-git": async () => ISOMORPHIC_GIT,
  pygit2: (dir) => installPython(dir, "pygit2"),
  dulwich: (dir) => installPython(dir, "dulwich"),
  async "go-git"(dir) {
    const program = join(dir, "go-client");
    const build = ["go", "build", "-mod=readonly", "-o", program, "."];
    if (!existsSync(program)) await install(build, join(FOREIGN, "go-git"));
    return programClient("go-git", [program]);
  },
  async gix(dir) {
    const program = join(dir, "target/debug/holdfast-foreign");
    if (!existsSync(program)) {
      // The lock file is not committed, because it names Cargo's registry; Cargo writes it here.
      mkdirSync(join(dir, "gix/src"), { recursive: true });
      for (const file of ["Cargo.toml", "src/main.rs"])
        copyFileSync(join(FOREIGN, "gix", file), join(dir, "gix", file));
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
      [python, "-m", "pip", "install", "--require-hashes", "-r", join(FOREIGN, "python/requirements.txt")],
      dir,
    );
  }
  return programClient(name, [python, join(FOREIGN, `python/${name}_client.py`)]);
}

/** Installs or builds, with the user's whole environment for access to the network. */
function install(command: readonly string[], cwd: string): Promise<void> {
  return runProgram(command, { env: process.env, cwd });
}

/** @returns null if it succeeded, else the error */
async function tryWork({ run }: Work, client: ForeignClient, url: string): Promise<string | null> {
  try {
    await run(client, url);
    return null;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim().split("\n")[0]!;
  }
}

export const foreignClients = defineCheck({
  text: `Other Git clients clone (also shallow), deepen, pull, push, push tags and delete, and the
results are compared with stock git's. Each operation also runs with git's own server: if it fails
there, the client is at fault.

The clients are isomorphic-git, which is installed with the project, and pygit2 and dulwich (Python
3.11 or newer), go-git (Go) and gix (Rust), which are first installed or built from the package
registries of these languages. Without a name, all clients run.`,
  operands: "[CLIENT...]",
  options: {
    build: text("DIR", "where to install them; existing ones are reused (default: a temporary folder)"),
    server: SERVER,
  },
  async run(run, { build, server }, operands) {
    const unknown = operands.find((name) => !(name in CLIENTS));
    if (unknown !== undefined) throw new UsageError(`${unknown}: not one of ${Object.keys(CLIENTS).join(", ")}`);
    const root = makeTempDir("native");
    const [target, native] = [await run.openServer(server), await startNative(root)];
    run.stack.defer(() => native.close());
    for (const name of operands.length > 0 ? operands : Object.keys(CLIENTS)) {
      showProgress(`${name}: installing`);
      const client = await CLIENTS[name]!(build ?? makeTempDir("foreign-build"));
      for (const [i, work] of WORKS.entries()) {
        showProgress(`${name}: ${work.name}`);
        const folder = `${name}-${i}.git`;
        await git(root, "init", "-q", "--bare", folder);
        const ours = await run.tally.time(client.name, () => tryWork(work, client, target.newRepository().url));
        const gits = await tryWork(work, client, `${native.url}/${folder}`);
        run.tally.count(
          ours === null ? "works done" : gits === null ? "works that fail" : "works that fail with git's server too",
        );
        if (gits !== null)
          process.stdout.write(`${client.name}: ${work.name}: git's server: ${gits}; here: ${ours ?? "ok"}\n`);
        else if (ours !== null) run.tally.wrong(`${client.name}: ${work.name}: ${ours}`);
      }
    }
  },
});
