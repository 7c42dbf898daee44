/** Tries Git clients that share no code with git's, on Holdfast and on git's own server. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { readCommandLine } from "../command-line.ts";
import { ISOMORPHIC_GIT } from "../../test/foreign/isomorphic-git.ts";
import { programClient, runProgram } from "../../test/foreign/program.ts";
import { type ForeignClient, type Work, WORKS } from "../../test/foreign/works.ts";
import { git } from "../../test/harness/git.ts";
import { startNative } from "../../test/harness/native.ts";
import { startServer } from "../../test/harness/server.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { formatRows, showProgress } from "./report.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify/foreign-clients.ts [OPTIONS] [CLIENT...]

Has other Git clients clone, also shallow, deepen, pull, push, push tags and delete, and holds what came of it against stock git. Each work is
done on git's own server too: what a client cannot do there is its own fault. Ends with 1 if one fails on Holdfast that does not there.

Clients are isomorphic-git, which is installed with the project, pygit2 and dulwich (Python 3.11 or newer), go-git (Go) and gix (Rust), which are
installed or built first, from the places where these languages have their packages. Without a name, all.

  --build DIR  where they are installed; what is there already is taken (default: a folder for this time)
  --help       this text
`;

const FOREIGN = join(import.meta.dirname, "../../test/foreign");

/** What installing and building reach the network by: everything that the user has set. */
const OWN_ENV = { env: process.env };

/** Makes each client ready. @param dir where to install it */
const CLIENTS: Readonly<Record<string, (dir: string) => Promise<ForeignClient>>> = {
  "isomorphic-git": async () => ISOMORPHIC_GIT,
  pygit2: async (dir) => programClient("pygit2", [await installPython(dir), join(FOREIGN, "python/pygit2_client.py")]),
  dulwich: async (dir) =>
    programClient("dulwich", [await installPython(dir), join(FOREIGN, "python/dulwich_client.py")]),
  async "go-git"(dir) {
    const program = join(dir, "go-client");
    if (!existsSync(program)) {
      await runProgram(["go", "build", "-mod=readonly", "-o", program, "."], {
        ...OWN_ENV,
        cwd: join(FOREIGN, "go-git"),
      });
    }
    return programClient("go-git", [program]);
  },
  async gix(dir) {
    const program = join(dir, "target/debug/holdfast-foreign");
    if (!existsSync(program)) {
      // The lock file is made here: it names the registry, which is nobody's business but Cargo's.
      mkdirSync(join(dir, "gix/src"), { recursive: true });
      for (const file of ["Cargo.toml", "src/main.rs"])
        copyFileSync(join(FOREIGN, "gix", file), join(dir, "gix", file));
      await runProgram(["cargo", "build", "--target-dir", join(dir, "target")], { ...OWN_ENV, cwd: join(dir, "gix") });
    }
    return programClient("gix", [program]);
  },
};

/** @returns the interpreter of an environment that holds both Python clients */
async function installPython(dir: string): Promise<string> {
  const python = join(dir, "python/bin/python");
  if (!existsSync(python)) {
    await runProgram(["python3", "-m", "venv", join(dir, "python")], OWN_ENV);
    const requirements = join(FOREIGN, "python/requirements.txt");
    await runProgram([python, "-m", "pip", "install", "--require-hashes", "-r", requirements], OWN_ENV);
  }
  return python;
}

/** @returns null: it went well, else what went wrong */
async function tryWork({ run }: Work, client: ForeignClient, url: string): Promise<string | null> {
  try {
    await run(client, url);
    return null;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim().split("\n")[0]!;
  }
}

async function main(names: readonly string[], buildDir: string): Promise<boolean> {
  // One folder for all that each work makes.
  process.env["HOLDFAST_TEST_DIR"] ??= makeTempDir("foreign-clients");
  const root = makeTempDir("root");
  const [server, native] = await Promise.all([startServer(), startNative(root)]);
  const rows: string[][] = [];
  let failed = false;
  try {
    for (const name of names) {
      showProgress(`${name}: installing`);
      const client = await CLIENTS[name]!(buildDir);
      for (const [i, work] of WORKS.entries()) {
        showProgress(`${name}: ${work.name}`);
        const folder = `${name}-${i}.git`;
        await git(root, "init", "-q", "--bare", folder);
        const ours = await tryWork(work, client, `${server.url}/foreign/${folder}`);
        const gits = await tryWork(work, client, `${native.url}/${folder}`);
        if (ours !== null && gits === null) failed = true;
        rows.push([client.name, work.name, describe(ours), describe(gits)]);
      }
    }
  } finally {
    await Promise.all([server.close(), native.close()]);
  }
  showProgress("");
  process.stdout.write(`${formatRows([["client", "work", "Holdfast", "git's server"], ...rows], [])}\n`);
  return failed;
}

function describe(failure: string | null): string {
  return failure ?? "ok";
}

const { values, positionals } = readCommandLine({
  allowPositionals: true,
  options: { build: { type: "string" }, help: { type: "boolean", default: false } },
});
const unknown = positionals.find((name) => !(name in CLIENTS));
if (values.help) {
  process.stdout.write(USAGE);
} else if (unknown !== undefined) {
  process.stderr.write(`there is no client '${unknown}'\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  const names = positionals.length > 0 ? positionals : Object.keys(CLIENTS);
  process.exitCode = (await main(names, values.build ?? makeTempDir("foreign-build"))) ? 1 : 0;
}
