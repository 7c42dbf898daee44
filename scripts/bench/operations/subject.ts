/** A repository for the scenarios: its local side, and its address on the server. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { git, gitBytes } from "../../../test/harness/git.ts";
import type { MeteredServer } from "../../../test/harness/metered/server.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { findBundle } from "../cases/storm.ts";
import { addCommit, noiseText, type Subject } from "../../../test/harness/fast-import.ts";

/** A local repository, and where it is pushed. */
export class PushedSubject {
  /** On the server, `owner/name`. */
  readonly name: string;
  /** For git, with the token in it. The first request of each command is refused, as with every
   * client that sends no credentials at first. */
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

  /** Makes the repository by the API, empty. */
  async create(): Promise<void> {
    const [owner, name] = this.name.split("/");
    await askServer(this.#server, "POST", "/repos", { owner, name });
  }

  /** Pushes the refs that git's refspecs name. */
  async push(...refspecs: readonly string[]): Promise<void> {
    await git(this.#subject.dir, "push", "-q", this.url, ...refspecs);
  }

  /** Commits another 8 KB of noise to one file, locally only. */
  edit(): Promise<void> {
    return addCommit(this.#subject, "main", EDITED_PATH, this.nextText());
  }

  /** Makes refs to existing commits. */
  async makeTags(count: number): Promise<void> {
    const tip = await git(this.#subject.dir, "rev-parse", "main");
    const stdin = Array.from({ length: count }, (_, index) => `create refs/tags/tag-${index} ${tip}\n`).join("");
    await gitBytes(this.#subject.dir, ["update-ref", "--stdin"], { stdin });
  }

  /** Another 8 KB of base64 noise. */
  nextText(): string {
    return noiseText(`edit ${this.#edits++}`);
  }

  /** The number of commits reachable from `main`, including its tip. */
  async countCommits(): Promise<number> {
    return Number(await git(this.#subject.dir, "rev-list", "--count", "main"));
  }

  /** Clones into a folder that is removed again. */
  async clone(...options: readonly string[]): Promise<void> {
    const dir = makeTempDir("counted-clone");
    await git(dir, "clone", "-q", "--bare", ...options, this.url, join(dir, "clone.git"));
    await rm(dir, { recursive: true });
  }

  /** Clones into a folder that stays.
   * @returns a function that fetches `main` into the clone */
  async keepClone(): Promise<() => Promise<void>> {
    const dir = join(makeTempDir("counted-clone"), "clone.git");
    await git(".", "clone", "-q", "--bare", this.url, dir);
    return async () => void (await git(dir, "fetch", "-q", this.url, "refs/heads/main:refs/heads/main"));
  }

  /** Calls the repository's API.
   * @param path after the repository's own
   * @throws Error if the answer is not a success */
  ask(method: string, path: string, json?: unknown): Promise<string> {
    return askServer(this.#server, method, `/repos/${this.name}${path}`, json);
  }

  /** Forks the repository. */
  fork(number: number): Promise<string> {
    return this.ask("POST", "/forks", { name: `fork-${number}-of-${this.name.slice("bench/".length)}` });
  }

  deleteFork(number: number): Promise<string> {
    return askServer(this.#server, "DELETE", `/repos/bench/fork-${number}-of-${this.name.slice("bench/".length)}`);
  }

  /** @returns the URL of the bundle, with the token in it; null if there is none */
  async findBundle(): Promise<string | null> {
    const token = `Bearer ${this.#server.token}`;
    const path = await findBundle(`${this.#server.url}/${this.name}.git`, { Authorization: token });
    return path === null ? null : `${this.url}/${path}`;
  }
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
