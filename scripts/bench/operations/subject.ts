/** A repository that is worked on: the client's side of it, and its place on the server. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { git, tryGit } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { findBundle } from "../cases/bundle-uri.ts";
import { addCommit, noiseText, type Subject } from "../work/subjects.ts";
import type { MeteredServer } from "./metered-server.ts";

/** A repository of the client, and where it is pushed. */
export class PushedSubject {
  /** On the server, `owner/name`. */
  readonly name: string;
  /** For git, with the token in it: its first request is refused, as with every client that has not asked before. */
  readonly url: string;
  readonly #server: MeteredServer;
  readonly #subject: Subject;
  #edits = 0;

  constructor(server: MeteredServer, subject: Subject, name: string) {
    this.#server = server;
    this.#subject = subject;
    this.name = `bench/${name}`;
    this.url = `${server.url.replace("://", `://git:${server.token}@`)}/${this.name}.git`;
  }

  /** Pushes some refs, as git's refspecs. */
  async push(...refspecs: readonly string[]): Promise<void> {
    await git(this.#subject.dir, "push", "-q", this.url, ...refspecs);
  }

  /** Commits another 8 KB of noise to one file, here alone. */
  edit(): Promise<void> {
    return addCommit(this.#subject, "main", EDITED_PATH, this.nextText());
  }

  /** Makes refs that lead to what is there. */
  async makeTags(count: number): Promise<void> {
    const tip = await git(this.#subject.dir, "rev-parse", "main");
    const stdin = Array.from({ length: count }, (_, index) => `create refs/tags/tag-${index} ${tip}\n`).join("");
    const { code, stderr } = await tryGit(this.#subject.dir, ["update-ref", "--stdin"], { stdin });
    if (code !== 0) throw new Error(`git update-ref ended with ${code}:\n${stderr}`);
  }

  /** Another 8 KB of base64 noise. */
  nextText(): string {
    return noiseText(`edit ${this.#edits++}`);
  }

  /** How many commits lead to the tip of `main`, it included. */
  async countCommits(): Promise<number> {
    return Number(await git(this.#subject.dir, "rev-list", "--count", "main"));
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

  /** @returns the URL of the bundle, with the token in it; null: there is none */
  async findBundle(): Promise<string | null> {
    const token = `Bearer ${this.#server.token}`;
    const path = await findBundle(`${this.#server.url}/${this.name}.git`, { Authorization: token });
    return path === null ? null : `${this.url}/${path}`;
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
