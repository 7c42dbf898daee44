/** Many whole clones at once, with and without the repository's bundle: what the server must build
 * and send. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chooseGit } from "../../../test/harness/chosen-git.ts";
import { git, tryGit } from "../../../test/harness/git.ts";
import { DELIM, decodeLines, encodePkt, FLUSH, request } from "../../../test/harness/raw.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Bench, Turn } from "../figures/bench.ts";
import { listJobs } from "../hosts/holdfast.ts";
import { type Host, pushNew } from "../hosts/host.ts";
import { fetchCommand, sendRaw } from "../work/raw-fetch.ts";
import { cloneAtOnce, measureOnce, type StormSettings } from "./at-once.ts";

/** The first git versions that use a bundle: on their own, and when the command line names its
 * address. */
const FIRST_TO_ASK = [2, 40] as const;
const FIRST_TO_TAKE = [2, 38] as const;

/** Longest wait for a bundle. By default a server makes it a minute after the push. */
const BUNDLE_WAIT_MS = 180_000;

/** Measures both alternately, one commit after the bundle, as builds after a push do. Also measures
 * the answer's size for a client that has nothing and for one that has the bundle.
 * @param host Holdfast */
export async function measureBundleUri(
  { subject, clients, rounds }: StormSettings,
  host: Host,
  bench: Bench,
): Promise<void> {
  const { env, version, isAtLeast } = await chooseGit();
  if (!isAtLeast(...FIRST_TO_TAKE)) {
    const needed = FIRST_TO_TAKE.join(".");
    console.error(`bundle-uri is skipped: it needs git ${needed}, but this is ${version} (HOLDFAST_GIT=PATH)`);
    return;
  }
  const url = await pushNew(subject.dir, host);
  const bundle = await waitForBundle(url);
  if (bundle === null) {
    console.error(`bundle-uri is skipped: ${subject.name} has no bundle and will get none. It needs 4 MiB.`);
    return;
  }
  const haves = (await git(subject.dir, "for-each-ref", "--format=have %(objectname)")).split("\n");
  const wants = [await pushOneMore(url), ...haves.map((line) => line.slice("have ".length))];
  const asking = isAtLeast(...FIRST_TO_ASK) ? ["-c", "transfer.bundleURI=true"] : [`--bundle-uri=${url}/${bundle}`];
  const bundleMb = (await request(`${url}/${bundle}`)).body.length / 1e6;
  const turns = [{ storm: "whole" }, { storm: "whole, bundle-uri", asking, haves, bundleMb }].map((way): Turn => {
    const work = { client: "git", clients, storm: way.storm, cache: "warm", repository: subject.name };
    const clone = async (dir: string): Promise<void> => {
      const { code, stderr } = await tryGit(".", ["clone", "-q", ...(way.asking ?? []), url, dir], { env });
      // Git only warns about a faulty bundle, and clones without it.
      if (code !== 0 || stderr !== "") throw new Error(`git clone of ${url} ended with ${code}:\n${stderr}`);
    };
    const run = async () => {
      const [together, ...each] = await measureOnce(host, () => cloneAtOnce(clients, clone));
      const { sizeBytes } = await sendRaw(url, fetchCommand(wants, ...(way.haves ?? [])));
      const sizes = { "answer MB": sizeBytes / 1e6, "bundle MB": way.bundleMb ?? 0 };
      return [{ ...together, ...sizes }, ...each].map((measures) => [work, measures] as const);
    };
    return ["holdfast", run];
  });
  await bench.takeRounds(`git, whole, with bundle-uri, ${clients} clients, ${subject.name}`, rounds, turns);
  await host.remove(url);
}

/** @returns the bundle's address relative to the repository's; null if none will be made
 * @throws Error if it is not made in time */
async function waitForBundle(url: string): Promise<string | null> {
  for (const deadline = Date.now() + BUNDLE_WAIT_MS; ; await sleep(500)) {
    // The jobs are read first: the bundle exists as soon as its job has ended.
    const jobs = await listJobs(url);
    const bundle = await findBundle(url);
    if (bundle !== null) return bundle;
    if (!jobs.some(({ kind }) => kind === "bundle")) return null;
    if (Date.now() > deadline) throw new Error(`no bundle was made within ${BUNDLE_WAIT_MS / 1000} seconds`);
  }
}

/** Asks as git 2.40 and later do before they clone. @see gitprotocol-v2(5), bundle-uri
 * @returns the bundle's address relative to the repository's; null if there is none */
export async function findBundle(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string | null> {
  const { status, body } = await request(`${url}/git-upload-pack`, {
    headers: { ...headers, "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: Buffer.concat([encodePkt("command=bundle-uri"), DELIM, FLUSH]),
  });
  if (status !== 200) throw new Error(`the command bundle-uri was answered with ${status}: ${body.toString()}`);
  return /\.uri=\.\/(\S+)$/m.exec(decodeLines(body).join("\n"))?.[1] ?? null;
}

/** Pushes one more commit with one file to the default branch. */
async function pushOneMore(url: string): Promise<string> {
  const dir = join(makeTempDir("behind"), "clone");
  await git(".", "clone", "-q", "--depth", "1", url, dir);
  await git(dir, "commit", "-q", "--allow-empty", "-m", "Behind the bundle");
  await git(dir, "push", "-q", "origin", "HEAD");
  return git(dir, "rev-parse", "HEAD");
}
