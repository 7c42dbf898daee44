/** A history on a server, and some of its commits: what the API says of each is compared with what git says. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readCommandLine } from "../command-line.ts";
import { askApi } from "../../test/harness/api.ts";
import { git } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { startServer } from "../../test/harness/server.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { showProgress } from "./report.ts";

/** One comparison. */
export interface Comparison {
  readonly what: string;
  /** What the API says, and what git says. */
  readonly actual: string;
  readonly expected: string;
}

/** A history that was pushed whole. */
export interface SampledHistory {
  /** A bare mirror whose HEAD is that of the server's repository. */
  readonly dir: string;
  /** Asks the API about the repository.
   * @param path behind its name, with a slash in front
   * @throws Error unless the answer is 200 */
  ask<Body>(path: string): Promise<Body>;
}

const OPTIONS = {
  server: { type: "string" },
  samples: { type: "string", default: "200" },
  seed: { type: "string", default: "1" },
  help: { type: "boolean", default: false },
} as const;

/** Runs a verification as the command line says, and sets the exit code: 1 if anything differs, 2 if the command line is wrong.
 * @param purpose the usage's second part: what is compared
 * @param compare compares what is said of one commit (hex id) */
export async function verifySamples(
  script: string,
  purpose: string,
  compare: (history: SampledHistory, commit: string) => Promise<Comparison[]>,
): Promise<void> {
  const { values, positionals } = readCommandLine({ allowPositionals: true, options: OPTIONS });
  const usage = `Usage: node_modules/.bin/node scripts/verify/${script}.ts [OPTIONS] HISTORY

Pushes every ref of HISTORY (a bundle, or a repository's folder or URL), and asks the API about commits taken at random.
${purpose}
Ends with 1 if anything differs.

  --server URL   a Holdfast server, which gets a new repository below /verify/ (without it one is started)
  --samples N    how many commits (default 200)
  --seed N       which (default 1)
  --help         this text
`;
  const [history] = positionals;
  const [samples, seed] = [Number(values.samples), Number(values.seed)];
  if (values.help) return console.log(usage);
  if (history === undefined || positionals.length > 1 || !Number.isInteger(samples) || !Number.isInteger(seed)) {
    console.error(usage);
    process.exitCode = 2;
    return undefined;
  }
  // Removed with all that is made in it when this process ends.
  process.env["HOLDFAST_TEST_DIR"] = makeTempDir("verify");
  const server = values.server === undefined ? await startServer() : null;
  try {
    const pushed = await pushHistory(history, (values.server ?? server!.url).replace(/\/$/, ""));
    const all = (await git(pushed.dir, "rev-list", "--all")).split("\n").toSorted();
    const commits = new Random(seed).shuffled(all).slice(0, samples);
    let [count, differences] = [0, 0];
    for (const commit of commits) {
      for (const { what, actual, expected } of await compare(pushed, commit)) {
        count += 1;
        if (actual === expected) continue;
        differences += 1;
        console.error(`${what} of ${commit}: expected\n${expected}\nand found\n${actual}`);
      }
      showProgress(`${count} compared, ${differences} differ`);
    }
    showProgress("");
    console.log(`${commits.length} commits, ${count} answers compared, ${differences} differ`);
    process.exitCode = differences === 0 ? 0 : 1;
  } finally {
    await server?.close();
  }
  return undefined;
}

async function pushHistory(history: string, url: string): Promise<SampledHistory> {
  const dir = join(makeTempDir("mirror"), "mirror.git");
  showProgress(`reading ${history}`);
  await git(makeTempDir("cwd"), "clone", "-q", "--mirror", existsSync(history) ? resolve(history) : history, dir);
  const name = `verify/${Date.now().toString(36)}`;
  showProgress("pushing every ref");
  await git(dir, "push", "-q", "--mirror", `${url}/${name}.git`);
  const ask = async <Body>(path: string): Promise<Body> => {
    const { status, body } = await askApi<Body>({ url }, `/repos/${name}${path}`);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const { defaultBranch } = await ask<{ defaultBranch: string }>("/stats");
  await git(dir, "symbolic-ref", "HEAD", `refs/heads/${defaultBranch}`);
  return { dir, ask };
}
