/** A repository that is worked on: the client's side of it, and its place on the server. */
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { git, tryGit } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Subject } from "../work/subjects.ts";
import type { MeteredServer } from "./metered-server.ts";

/** A repository of the client, and where it is pushed. */
export class PushedSubject {
  /** On the server, `owner/name`. */
  readonly name: string;
  /** For git, with the token in it: its first request is refused, as with every client that has not asked before. */
  readonly url: string;
  readonly #server: MeteredServer;
  readonly #dir: string;
  #edits = 0;

  constructor(server: MeteredServer, { dir }: Subject, name: string) {
    this.#server = server;
    this.#dir = dir;
    this.name = `bench/${name}`;
    this.url = `${server.url.replace("://", `://git:${server.token}@`)}/${this.name}.git`;
  }

  /** Pushes some refs, as git's refspecs. */
  async push(...refspecs: readonly string[]): Promise<void> {
    await git(this.#dir, "push", "-q", this.url, ...refspecs);
  }

  /** Commits another 8 KB of noise to one file, here alone. */
  async edit(): Promise<void> {
    const text = this.nextText();
    const stream = [
      "commit refs/heads/main\ncommitter Ada Example <ada@example.com> 1700000000 +0000\ndata 5\nEdit\n",
      `from refs/heads/main^0\nM 100644 inline ${EDITED_PATH}\ndata ${text.length}\n${text}\n`,
    ].join("");
    const { code, stderr } = await tryGit(this.#dir, ["fast-import", "--quiet"], { stdin: stream });
    if (code !== 0) throw new Error(`git fast-import ended with ${code}:\n${stderr}`);
  }

  /** Makes refs that lead to what is there. */
  async makeTags(count: number): Promise<void> {
    const tip = await git(this.#dir, "rev-parse", "main");
    const stdin = Array.from({ length: count }, (_, index) => `create refs/tags/tag-${index} ${tip}\n`).join("");
    const { code, stderr } = await tryGit(this.#dir, ["update-ref", "--stdin"], { stdin });
    if (code !== 0) throw new Error(`git update-ref ended with ${code}:\n${stderr}`);
  }

  /** Another 8 KB of base64 noise. */
  nextText(): string {
    const hash = createHash("shake256", { outputLength: 6144 });
    return hash.update(`edit ${this.#edits++}`).digest("base64");
  }

  /** How many commits lead to the tip of `main`, it included. */
  async countCommits(): Promise<number> {
    return Number(await git(this.#dir, "rev-list", "--count", "main"));
  }

  /** Clones into a folder that is removed again. */
  async clone(...options: readonly string[]): Promise<void> {
    const dir = makeTempDir("counted-clone");
    await git(dir, "clone", "-q", "--bare", ...options, this.url, join(dir, "clone.git"));
    await rm(dir, { recursive: true });
  }

  /** Clones for good.
   * @returns a function that fetches `main` into the clone */
  async keepClone(): Promise<() => Promise<void>> {
    const dir = join(makeTempDir("counted-clone"), "clone.git");
    await git(".", "clone", "-q", "--bare", this.url, dir);
    return async () => void (await git(dir, "fetch", "-q", this.url, "refs/heads/main:refs/heads/main"));
  }

  /** Asks the API of the repository.
   * @param path behind the repository's own
   * @throws Error if the answer is no success */
  ask(method: string, path: string, json?: unknown): Promise<string> {
    return askServer(this.#server, method, `/repos/${this.name}${path}`, json);
  }

  /** What git 2.40 and later ask for before they clone: where the bundle lies.
   * @returns its URL, with the token in it; null: there is none */
  async findBundle(): Promise<string | null> {
    const response = await fetch(`${this.#server.url}/${this.name}.git/git-upload-pack`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${this.#server.token}`,
        "Content-Type": "application/x-git-upload-pack-request",
        "Git-Protocol": "version=2",
      },
      body: "0016command=bundle-uri00010000",
    });
    const path = /\.uri=\.\/(\S+)/.exec(await response.text())?.[1];
    return path === undefined ? null : `${this.url}/${path}`;
  }
}

/** The file that every edit changes. */
export const EDITED_PATH = "dir-0/file-0.txt";

/** Asks the API with a token for what belongs to `bench`, else with the admin token.
 * @param path below `/api`
 * @throws Error if the answer is no success */
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
