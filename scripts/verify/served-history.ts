import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readCommandLine } from "../command-line.ts";
import { git } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { startServer } from "../../test/harness/server.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { showProgress } from "./report.ts";

/** A history in git, and the same on a server. */
export interface ServedHistory {
  /** A mirror clone. */
  readonly dir: string;
  /** Where the API has the repository, without a slash at its end. */
  readonly api: string;
  readonly random: Random;
  /** How many cases to compare. */
  readonly cases: number;
}

/** Runs a check of what the API says of a history beside what git says: reads the command line, has a server hold the history,
 * and sets the exit code: 0 when all is the same, 1 when something differs, 2 when the command line is wrong.
 * @param usage what `--help` prints; the options are `--cases`, `--seed` and `--server`
 * @param check returns how many cases differ */
export async function checkServed(usage: string, check: (history: ServedHistory) => Promise<number>): Promise<void> {
  const { values, positionals } = readCommandLine({
    allowPositionals: true,
    options: {
      cases: { type: "string", default: "200" },
      seed: { type: "string", default: "1" },
      server: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const [origin] = positionals;
  const [cases, seed] = [Number(values.cases), Number(values.seed)];
  if (values.help) return console.log(usage);
  if (origin === undefined || positionals.length > 1 || !(cases > 0) || !Number.isInteger(seed)) {
    console.error(usage);
    process.exitCode = 2;
    return;
  }
  // Removed with all that is made in it when this process ends.
  process.env["HOLDFAST_TEST_DIR"] = makeTempDir("verify");
  const server = values.server === undefined ? await startServer() : null;
  try {
    showProgress(`pushing ${origin}`);
    const dir = join(makeTempDir("clone"), "clone.git");
    await git(makeTempDir("cwd"), "clone", "-q", "--mirror", existsSync(origin) ? resolve(origin) : origin, dir);
    const url = (values.server ?? server!.url).replace(/\/$/, "");
    const name = `verify/${Date.now().toString(36)}`;
    await git(dir, "push", "-q", "--mirror", `${url}/${name}.git`);
    const different = await check({ dir, api: `${url}/api/repos/${name}`, random: new Random(seed), cases });
    process.exitCode = different === 0 ? 0 : 1;
  } finally {
    await server?.close();
  }
}

/** Runs something and tells how long it took, in milliseconds. */
export async function timed<T>(act: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const start = performance.now();
  const result = await act();
  return { result, ms: performance.now() - start };
}
