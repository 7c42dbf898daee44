/** What a client has come to, and how two of them differ. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, tryGit } from "../../test/harness/git.ts";
import { listReachable } from "../../test/harness/received-pack.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";

/** Everything by which a client shows what it received. */
export interface ClientState {
  /** Lines of `for-each-ref`. */
  readonly refs: string;
  readonly shallow: string;
  /** `rev-list --objects --all --missing=print`, sorted, and how it ended. */
  readonly reachable: string;
  /** How fsck ended, and what it found. */
  readonly fsck: string;
  /** Ids of the objects that are really there. */
  readonly present: ReadonlySet<string>;
}

/** Up to so many objects are read and hashed once more; of others git's index-pack has proved as much, so their connections must do. */
const FULL_FSCK_OBJECTS = 5000;

/** Forbids what would fetch a missing object to look at it. */
const OFFLINE = ["-c", "protocol.allow=never"];

/** Reads a client's state, without any fetching. */
export async function readState(dir: string): Promise<ClientState> {
  const gitDir = existsSync(join(dir, ".git")) ? join(dir, ".git") : dir;
  const shallowFile = join(gitDir, "shallow");
  const present = await run(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)");
  const objects = present.split("\n").filter((line) => line.length === 40);
  const fsck = ["fsck", "--no-dangling", ...(objects.length > FULL_FSCK_OBJECTS ? ["--connectivity-only"] : [])];
  return {
    refs: await git(dir, "for-each-ref", "--format=%(objectname) %(refname) %(symref)"),
    shallow: existsSync(shallowFile) ? sortLines(readFileSync(shallowFile, "utf8")) : "",
    reachable: await run(dir, "rev-list", "--objects", "--no-object-names", "--all", "--missing=print"),
    fsck: await run(dir, ...fsck),
    present: new Set(objects),
  };
}

async function run(dir: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await tryGit(dir, [...OFFLINE, ...args]);
  return `exit code ${code}\n${sortLines(stdout)}\n${sortLines(stderr)}`;
}

function sortLines(text: string): string {
  return text.split("\n").filter(Boolean).toSorted().join("\n");
}

/** What a client had said that it had, before it fetched. */
export interface ClientPast {
  /** Of the refs. */
  readonly oids: readonly string[];
  /** As in a `ClientState`. */
  readonly shallow: string;
}

/** One difference that matters. */
export interface Difference {
  readonly what: string;
  readonly count: number;
  /** A few of the lines or ids: "+" only the client of Holdfast has it, "-" only that of git. */
  readonly examples: readonly string[];
}

/** Differences that matter; how many objects git sent beyond what it had to, and how many it left out. */
export interface Comparison {
  readonly differences: readonly Difference[];
  readonly surplus: number;
  readonly omitted: number;
}

/** Compares a client of Holdfast with one of git that did the same.
 *
 * The first must have no object that the second lacks, but with several filters at once: git forgets there that it has not yet sent
 * what one filter has seen and another held back, and leaves it out where it comes by again; each filter on its own must let it
 * through. It may lack objects, of a partial clone in particular, that git sent without need: those which commits lead to that
 * the client had said it had; git looks only at the trees of the nearest of them.
 * @param filters what the client asked for, taken apart
 * @param historyDir a repository that has all that the server has */
export async function compareStates(
  holdfast: ClientState,
  native: ClientState,
  expectation: { readonly before: ClientPast; readonly filters: readonly string[]; readonly historyDir: string },
): Promise<Comparison> {
  const { before, filters, historyDir } = expectation;
  const differences = [
    compareLines("refs", holdfast.refs, native.refs),
    compareLines("shallow commits", holdfast.shallow, native.shallow),
    compareLines("fsck", holdfast.fsck, native.fsck),
  ];
  const extra = [...holdfast.present].filter((oid) => !native.present.has(oid));
  const lacking = [...native.present].filter((oid) => !holdfast.present.has(oid));
  const had = lacking.length > 0 && before.oids.length > 0 ? await listKnown(historyDir, before) : new Set<string>();
  const lost = lacking.filter((oid) => !had.has(oid));
  const passed = extra.length > 0 && filters.length > 1 ? await listPassed(historyDir, filters) : new Set<string>();
  const wrong = extra.filter((oid) => !passed.has(oid));
  differences.push(describe("objects present", wrong, lost));
  // What git sent without need, or left out, is in the one list and not in the other.
  if (lacking.length === lost.length && extra.length === wrong.length) {
    differences.push(compareLines("objects reachable", holdfast.reachable, native.reachable));
  }
  return {
    differences: differences.filter(({ count }) => count > 0),
    surplus: lacking.length - lost.length,
    omitted: extra.length - wrong.length,
  };
}

/** What every one of some filters lets through. */
async function listPassed(dir: string, filters: readonly string[]): Promise<Set<string>> {
  let passed: Set<string> | undefined;
  for (const filter of filters) {
    const shown = await listReachable(dir, "--all", `--filter=${filter}`);
    passed = passed?.intersection(shown) ?? shown;
  }
  return passed ?? new Set();
}

async function listKnown(historyDir: string, { oids, shallow }: ClientPast): Promise<Set<string>> {
  const checked = await tryGit(historyDir, ["cat-file", "--batch-check"], { stdin: `${oids.join("\n")}\n` });
  const known = checked.stdout.split("\n").filter((line) => line !== "" && !line.endsWith(" missing"));
  const shallowFile = join(makeTempDir("past"), "shallow");
  writeFileSync(shallowFile, shallow === "" ? "" : `${shallow}\n`);
  const ids = known.map((line) => line.slice(0, 40));
  const listed = await git(
    historyDir,
    "--shallow-file",
    shallowFile,
    "rev-list",
    "--objects",
    "--no-object-names",
    ...ids,
  );
  return new Set(listed.split("\n"));
}

/** Compares lines as sets. */
export function compareLines(what: string, actual: string, expected: string): Difference {
  const [here, there] = [actual.split("\n"), expected.split("\n")];
  const [hereSet, thereSet] = [new Set(here), new Set(there)];
  return describe(
    what,
    here.filter((line) => !thereSet.has(line)),
    there.filter((line) => !hereSet.has(line)),
  );
}

function describe(what: string, extra: readonly string[], lost: readonly string[]): Difference {
  const examples = [...extra.slice(0, 3).map((line) => `+ ${line}`), ...lost.slice(0, 3).map((line) => `- ${line}`)];
  return { what, count: extra.length + lost.length, examples };
}
