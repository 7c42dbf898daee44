/** A repository for the scenarios: its local side, and its address on the server. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { git, gitBytes } from "../../../test/harness/git.ts";
import type { MeteredServer } from "../../../test/harness/metered/server.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { findBundle } from "../cases/storm.ts";
import { addCommit, noiseText, type Subject } from "../../../test/harness/fast-import.ts";

/** A local repository, and where it is pushed. */
export type PushedSubject = ReturnType<typeof pushedSubject>;

/** @param name of the repository on the server, which `bench` owns */
export function pushedSubject(server: MeteredServer, { dir }: Subject, name: string) {
  const path = `bench/${name}`;
  // With the token in it. The first request of each command is refused, as with every client that
  // sends no credentials at first.
  const url = `${server.url.replace("://", `://git:${server.token}@`)}/${path}.git`;
  let edits = 0;
  /** Another 8 KB of base64 noise. */
  const nextText = (): string => noiseText(`edit ${edits++}`);
  /** Calls the repository's API, at a path after its own.
   * @throws Error if the answer is not a success */
  const ask = (method: string, below: string, json?: unknown): Promise<string> =>
    askServer(server, method, `/repos/${path}${below}`, json);
  return {
    nextText,
    ask,
    /** Makes the repository by the API, empty. */
    create: () => askServer(server, "POST", "/repos", { owner: "bench", name }),
    /** Pushes the refs that git's refspecs name. */
    push: (...refspecs: readonly string[]) => git(dir, "push", "-q", url, ...refspecs),
    /** Commits another 8 KB of noise to one file, locally only. */
    edit: () => addCommit({ name, dir }, "main", EDITED_PATH, nextText()),
    /** Makes refs to existing commits. */
    async makeTags(count: number): Promise<void> {
      const tip = await git(dir, "rev-parse", "main");
      const stdin = Array.from({ length: count }, (_, index) => `create refs/tags/tag-${index} ${tip}\n`).join("");
      await gitBytes(dir, ["update-ref", "--stdin"], { stdin });
    },
    /** The number of commits reachable from `main`, including its tip. */
    countCommits: async () => Number(await git(dir, "rev-list", "--count", "main")),
    /** Clones into a folder that is removed again. */
    async clone(...options: readonly string[]): Promise<void> {
      const into = makeTempDir("counted-clone");
      await git(into, "clone", "-q", "--bare", ...options, url, join(into, "clone.git"));
      await rm(into, { recursive: true });
    },
    /** Clones into a folder that stays.
     * @returns a function that fetches `main` into the clone */
    async keepClone(): Promise<() => Promise<string>> {
      const clone = join(makeTempDir("counted-clone"), "clone.git");
      await git(".", "clone", "-q", "--bare", url, clone);
      return () => git(clone, "fetch", "-q", url, "refs/heads/main:refs/heads/main");
    },
    fork: (number: number) => ask("POST", "/forks", { name: `fork-${number}-of-${name}` }),
    deleteFork: (number: number) => askServer(server, "DELETE", `/repos/bench/fork-${number}-of-${name}`),
    /** @returns the URL of the bundle, with the token in it; null if there is none */
    async findBundle(): Promise<string | null> {
      const headers = { Authorization: `Bearer ${server.token}` };
      const found = await findBundle(`${server.url}/${path}.git`, headers);
      return found === null ? null : `${url}/${found}`;
    },
  };
}

/** The file that each edit changes. */
export const EDITED_PATH = "dir-0/file-0.txt";

/** Calls the API, with the token for what `bench` owns or with the admin token.
 * @param path below `/api`
 * @throws Error if the answer is not a success */
export async function askServer(server: MeteredServer, method: string, path: string, json?: unknown): Promise<string> {
  const token = path.startsWith("/repos/bench/") ? server.token : server.adminToken;
  const response = await fetch(`${server.url}/api${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: json === undefined ? null : JSON.stringify(json),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${body.slice(0, 300)}`);
  return body;
}
