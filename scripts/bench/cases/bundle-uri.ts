/** Whole clones at once, without and with the repository's bundle: what the server has to make and send then. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chooseGit } from "../../../test/harness/chosen-git.ts";
import { git, tryGit } from "../../../test/harness/git.ts";
import { DELIM, decodeLines, encodePkt, FLUSH, request } from "../../../test/harness/raw.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Measures, Sample, Work } from "../figures/sample.ts";
import { takeRounds, type Turn } from "../figures/turns.ts";
import { listJobs } from "../hosts/holdfast.ts";
import { type Host, pushNew } from "../hosts/host.ts";
import { type CountingProxy, startCountingProxy } from "../work/counting-proxy.ts";
import { cloneAtOnce, measureOnce, type Shown, type StormSettings } from "./storm.ts";

/** The first gits that take a bundle: by themselves, and when they are told its address. */
const FIRST_TO_ASK = [2, 40] as const;
const FIRST_TO_TAKE = [2, 38] as const;

/** How long a bundle is waited for. A server that is not told otherwise makes it a minute after the push. */
const BUNDLE_WAIT_MS = 180_000;

/** Measures both in turns, one commit behind the bundle, as builds after a push are. The bytes are counted by a proxy before the server.
 * @param host Holdfast */
export async function measureBundleUri(
  { subject, clients, rounds }: Pick<StormSettings, "subject" | "clients" | "rounds">,
  host: Host,
): Promise<Sample[]> {
  const { env, version, isAtLeast } = await chooseGit();
  if (!isAtLeast(...FIRST_TO_TAKE)) {
    console.error(
      `bundle-uri is left out: it needs git ${FIRST_TO_TAKE.join(".")}, and here is ${version}. HOLDFAST_GIT=PATH names another.`,
    );
    return [];
  }
  const url = await pushNew(subject.dir, host);
  const bundle = await waitForBundle(url);
  if (bundle === null) {
    console.error(`bundle-uri is left out: ${subject.name} has no bundle, and is to get none. It needs 4 MiB.`);
    return [];
  }
  await pushOneMore(url);
  const { origin, pathname } = new URL(url);
  const proxy = await startCountingProxy(origin);
  try {
    const proxied = `${proxy.url}${pathname}`;
    const asking = isAtLeast(...FIRST_TO_ASK)
      ? ["-c", "transfer.bundleURI=true"]
      : [`--bundle-uri=${proxied}/${bundle}`];
    const turns = Object.entries({ whole: [], "whole, bundle-uri": asking }).map(([storm, options]): Turn => {
      const work: Work = { client: "git", clients, storm, cache: "warm", repository: subject.name };
      const clone = async (dir: string): Promise<void> => {
        const args = ["clone", "-q", ...options, proxied, dir];
        const { code, stderr } = await tryGit(".", args, { env });
        // What is wrong with a bundle is but a warning: the clone then goes without.
        if (code !== 0 || stderr !== "") throw new Error(`git ${args.join(" ")} ended with ${code}:\n${stderr}`);
      };
      const run = async (): Promise<(readonly [Work, Measures])[]> =>
        (await measureOnce(host, () => cloneCounted(clients, clone, proxy))).map((measures) => [work, measures]);
      return ["holdfast", run];
    });
    return await takeRounds(
      `git, whole, without and with bundle-uri, ${clients} clients, ${subject.name}`,
      rounds,
      turns,
    );
  } finally {
    await proxy.close();
    await host.remove(url);
  }
}

async function cloneCounted(
  clients: number,
  clone: (dir: string) => Promise<void>,
  proxy: CountingProxy,
): Promise<Shown> {
  proxy.takeCounts();
  const { each } = await cloneAtOnce(clients, clone);
  let bundleBytes = 0;
  let fetchBytes = 0;
  for (const [path, sizeBytes] of proxy.takeCounts()) {
    if (path.endsWith(".bundle")) bundleBytes += sizeBytes;
    else fetchBytes += sizeBytes;
  }
  return { each, together: { "fetch MB": fetchBytes / 1e6, "bundle MB": bundleBytes / 1e6 } };
}

/** @returns the bundle's address, relative to the repository's; null: there is none to come
 * @throws Error if it does not come */
async function waitForBundle(url: string): Promise<string | null> {
  for (const deadline = Date.now() + BUNDLE_WAIT_MS; ; await sleep(500)) {
    // Asked for first: between a job's end and the bundle there is no time.
    const jobs = await listJobs(url);
    const bundle = await findBundle(url);
    if (bundle !== null) return bundle;
    if (!jobs.some(({ kind }) => kind === "bundle")) return null;
    if (Date.now() > deadline) throw new Error(`no bundle was made within ${BUNDLE_WAIT_MS / 1000} seconds`);
  }
}

/** Asks as git does. @see gitprotocol-v2(5), bundle-uri */
async function findBundle(url: string): Promise<string | null> {
  const { status, body } = await request(`${url}/git-upload-pack`, {
    headers: { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: Buffer.concat([encodePkt("command=bundle-uri"), DELIM, FLUSH]),
  });
  if (status !== 200) throw new Error(`the command bundle-uri was answered with ${status}: ${body.toString()}`);
  return /\.uri=\.\/(\S+)$/m.exec(decodeLines(body).join("\n"))?.[1] ?? null;
}

/** Pushes one commit of one file on top of the default branch. */
async function pushOneMore(url: string): Promise<void> {
  const dir = join(makeTempDir("behind"), "clone");
  await git(".", "clone", "-q", "--depth", "1", url, dir);
  await git(dir, "commit", "-q", "--allow-empty", "-m", "Behind the bundle");
  await git(dir, "push", "-q", "origin", "HEAD");
}
