/** Repositories that writers save to, and the writers. */
import { setTimeout as sleep } from "node:timers/promises";
import { git } from "../../../test/harness/git.ts";
import { apiPathOf, askHoldfast, makeWithoutWorktree } from "../hosts/holdfast.ts";
import type { Host } from "../hosts/host.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { openApiWriter } from "./api-writer.ts";
import { openGitWriter } from "./git-writer.ts";
import type { Lane, Shape } from "./save-loop.ts";
import { branchOf, makeStoreSource, type StoreSize } from "./store-source.ts";
import type { Writer } from "./writer.ts";

/** Longest wait for the worktrees of new repositories. */
const WORKTREE_MS = 300_000;

const WORKTREE_POLL_MS = 250;

/** Equal repositories on every host. */
export class Stores {
  readonly #hosts: Hosts;
  readonly #urls = new Map<Host, readonly string[]>();
  /** Each is opened when first needed, and goes on in further loops. */
  readonly #writers = new Map<string, Writer>();

  constructor(hosts: Hosts) {
    this.#hosts = hosts;
  }

  /** Makes the repositories, and waits until nothing is left to do for them.
   * @param hasWorktree whether the files of `main` also lie in R2 one by one */
  static async open(
    hosts: Hosts,
    options: StoreSize & { readonly repositories: number; readonly hasWorktree: boolean },
  ): Promise<Stores> {
    const { native, holdfast } = hosts;
    const { repositories, hasWorktree, files, branches } = options;
    process.stderr.write(
      `pushing ${repositories} repositories of ${files} files and ${branches} branches to each host\n`,
    );
    const source = await makeStoreSource(options);
    const stores = new Stores(hosts);
    for (const host of native === null ? [holdfast] : [native, holdfast]) {
      const urls: string[] = [];
      for (let number = 0; number < repositories; number++) {
        const url = await host.makeRepository();
        if (host === holdfast && !hasWorktree) await makeWithoutWorktree(url);
        await git(source, "push", "-q", "--mirror", url);
        urls.push(url);
      }
      stores.#urls.set(host, urls);
    }
    if (hasWorktree) for (const url of stores.#urls.get(holdfast)!) await waitForWorktree(url);
    return stores;
  }

  /** The ways to save that are compared: git at each host, and the API. */
  async openLanes(shape: Shape): Promise<Lane[]> {
    const { native, holdfast } = this.#hosts;
    const git = { by: "git", side: "holdfast", host: holdfast } as const;
    const lanes: Omit<Lane, "writers">[] = [git, { ...git, by: "api" }];
    if (native !== null) lanes.unshift({ by: "git", side: "native", host: native });
    const opened: Lane[] = [];
    for (const lane of lanes) {
      const writers: Writer[][] = [];
      for (let writer = 0; writer < shape.writers; writer++) {
        writers.push([]);
        for (const [repository, branch] of placesOf(writer, shape)) {
          writers[writer]!.push(await this.#openWriter(lane, { writer, repository, branch }));
        }
      }
      opened.push({ ...lane, writers });
    }
    return opened;
  }

  async #openWriter(
    { by, side, host }: Omit<Lane, "writers">,
    { writer, repository, branch }: { readonly writer: number; readonly repository: number; readonly branch: string },
  ): Promise<Writer> {
    const key = [by, side, writer, repository, branch].join();
    const known = this.#writers.get(key);
    if (known !== undefined) return known;
    const url = this.#urls.get(host)![repository]!;
    const opened = by === "git" ? await openGitWriter(url, branch) : openApiWriter(url, branch);
    this.#writers.set(key, opened);
    return opened;
  }
}

/** Where a writer saves: with as many repositories as writers, each in their own; with more, in several by turns; with fewer, those
 * who share one take a branch each, as long as there are enough. */
export function placesOf(
  writer: number,
  { writers, repositories, branches }: Shape,
): readonly (readonly [repository: number, branch: string])[] {
  const branch = branchOf(Math.floor(writer / repositories) % branches);
  const count = Math.max(1, Math.ceil((repositories - writer) / writers));
  return Array.from({ length: count }, (_, turn) => [(writer + turn * writers) % repositories, branch]);
}

/** @throws Error if the files do not come to lie in R2 */
async function waitForWorktree(url: string): Promise<void> {
  for (const deadline = Date.now() + WORKTREE_MS; ; await sleep(WORKTREE_POLL_MS)) {
    const { worktrees } = await askHoldfast<{ worktrees: readonly { state: string }[] }>(
      url,
      `${apiPathOf(url)}/worktrees`,
    );
    if (worktrees.every(({ state }) => state !== "writing")) return;
    if (Date.now() > deadline)
      throw new Error(`${url}: its worktree is still being written after ${WORKTREE_MS / 1000} s`);
  }
}
