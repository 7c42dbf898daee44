/** The checked server, as git and the API reach it. */
import { type Answer, askApi } from "../../test/harness/api.ts";
import { UsageError } from "../command-line.ts";
import { authorization } from "../../test/harness/authorization.ts";
import { type GitResult, tryGit } from "../../test/harness/git.ts";

/** An answer without an explanation, or none at all. */
export class UnexpectedAnswer extends Error {}

interface Asked {
  readonly method?: string;
  readonly json?: unknown;
}

/** A server by its URL. Requests use the token in HOLDFAST_TOKEN. */
export class Target {
  /** Without a trailing slash. */
  readonly url: string;
  /** Its process, if known. */
  readonly pid: number | null;
  readonly #owner: string;
  readonly #signal: AbortSignal | undefined;
  #count = 0;
  /** Names of its repositories that were made here and not yet removed. */
  readonly #made = new Set<string>();

  /** @param owner of the repositories that are made
   * @param signal aborts all that is running */
  constructor(url: string, owner: string, pid: number | null, signal?: AbortSignal) {
    this.url = url;
    this.pid = pid;
    this.#owner = owner;
    this.#signal = signal;
  }

  /** A repository name that is unique to this run, so that a server may be checked again, and by
   * several programs at once.
   * @returns git's URL, and the API's path below `/api` */
  newRepository(): { readonly url: string; readonly path: string } {
    const name = `${Date.now().toString(36)}-${process.pid}-${this.#count++}`;
    this.#made.add(name);
    return { url: `${this.url}/${this.#owner}/${name}.git`, path: `/repos/${this.#owner}/${name}` };
  }

  /** Removes a repository that was made here.
   * @throws UnexpectedAnswer unless it is gone or never existed */
  async remove(path: string): Promise<void> {
    await this.demand(path, { method: "DELETE" }, [204, 404]);
    this.#made.delete(path.split("/").at(-1)!);
  }

  /** Removes all that were made here, even after an interrupt; reports those that remain. */
  async removeAll(): Promise<void> {
    const going = new Target(this.url, this.#owner, null);
    for (const name of this.#made) {
      const path = `/repos/${this.#owner}/${name}`;
      await going.remove(path).catch((error: Error) => console.error(`${path} was not deleted: ${error.message}`));
    }
  }

  /** Runs git in a folder. */
  git(dir: string, ...args: readonly string[]): Promise<GitResult> {
    return tryGit(dir, args, { signal: this.#signal });
  }

  /** Runs git in a folder.
   * @throws UnexpectedAnswer if it fails */
  async demandGit(dir: string, ...args: readonly string[]): Promise<GitResult> {
    const result = await this.git(dir, ...args);
    if (result.code === 0) return result;
    throw new UnexpectedAnswer(`git ${args[0]} ended with ${result.code}: ${result.stderr}`);
  }

  /** Calls the API.
   * @param path below `/api` */
  ask<Body>(path: string, asked: Asked = {}): Promise<Answer<Body>> {
    return askApi<Body>(this, path, { ...asked, ...this.#abortable() });
  }

  /** Calls the API.
   * @throws UnexpectedAnswer for any status but these */
  async demand<Body>(path: string, asked: Asked = {}, statuses: readonly number[] = [200]): Promise<Body> {
    const { status, body } = await this.ask<Body>(path, asked);
    if (!statuses.includes(status)) throw unexpected(asked.method ?? "GET", path, status, JSON.stringify(body));
    return body;
  }

  /** Reads bytes through the API.
   * @throws UnexpectedAnswer unless they exist */
  async read(path: string): Promise<{ readonly bytes: Buffer; readonly etag: string | null }> {
    const response = await fetch(`${this.url}/api${path}`, { headers: authorization(), ...this.#abortable() });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) throw unexpected("GET", path, response.status, bytes.toString());
    return { bytes, etag: response.headers.get("ETag") };
  }

  /** Reads all pages, or until there are this many items.
   * @param list the name of the items' field
   * @returns the first page, and the items of all */
  async readPages<Item, Page = unknown>(
    path: string,
    list: string,
    most = Infinity,
  ): Promise<{ readonly first: Page; readonly items: Item[] }> {
    const items: Item[] = [];
    let first: Record<string, unknown> | null = null;
    const join = path.includes("?") ? "&" : "?";
    for (let cursor: string | null = ""; cursor !== null && items.length < most;) {
      const page: Record<string, unknown> = await this.demand(cursor === "" ? path : `${path}${join}cursor=${cursor}`);
      first ??= page;
      for (const item of page[list] as Item[]) items.push(item);
      cursor = page["nextCursor"] as string | null;
    }
    return { first: first as Page, items };
  }

  #abortable(): { signal?: AbortSignal } {
    return this.#signal === undefined ? {} : { signal: this.#signal };
  }
}

/** Enough characters to recognize an answer. */
const SHOWN_CHARACTERS = 300;

/** An answer as an error, with all details that matter. */
export function unexpected(method: string, path: string, status: number, text: string): UnexpectedAnswer {
  return new UnexpectedAnswer(`${method} ${path}: ${status} ${text.slice(0, SHOWN_CHARACTERS)}`);
}

/** Reads a server's URL.
 * @throws UsageError if it is not one */
export function readUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw new UsageError(`${text}: not the URL of a server`);
  return new URL(text).origin;
}

/** Asks a server for something that only an administrator of the owner may read, with the token in
 * HOLDFAST_TOKEN.
 * @throws Error with the way out if it does not answer or refuses */
export async function reachServer(url: string, owner: string): Promise<void> {
  const { status, body } = await askApi({ url }, `/tokens?owner=${owner}`).catch((error: Error) => {
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`${url} cannot be reached: ${reason}`, { cause: error });
  });
  if (status === 401 || status === 403)
    throw new Error(`${url} needs a token that may administer all that "${owner}" owns: set HOLDFAST_TOKEN`);
  if (status !== 200)
    throw new Error(`${url} is not a Holdfast server: ${status} ${JSON.stringify(body).slice(0, 300)}`);
}
