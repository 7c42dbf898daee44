/** A server that is checked, as git and the API reach it. */
import { type Answer, askApi } from "../../test/harness/api.ts";
import { authorization } from "../../test/harness/authorization.ts";
import { type GitResult, tryGit } from "../../test/harness/git.ts";

/** An answer that nothing explains, or none at all. */
export class UnexpectedAnswer extends Error {}

interface Asked {
  readonly method?: string;
  readonly json?: unknown;
}

/** A server by its URL. Who asks shows the token of HOLDFAST_TOKEN. */
export class Target {
  /** Without a slash at its end. */
  readonly url: string;
  /** Its process, where that is known. */
  readonly pid: number | null;
  readonly #owner: string;
  readonly #signal: AbortSignal | undefined;
  #count = 0;
  /** Names of its repositories that were made here and are not removed. */
  readonly #made = new Set<string>();

  /** @param owner below which repositories are made @param signal ends whatever is under way */
  constructor(url: string, owner: string, pid: number | null, signal?: AbortSignal) {
    this.url = url;
    this.pid = pid;
    this.#owner = owner;
    this.#signal = signal;
  }

  /** Names a repository that nobody has: of this run, so that a server may be checked again, and
   * by several at once.
   * @returns where git has it, and where the API does, below `/api` */
  newRepository(): { readonly url: string; readonly path: string } {
    const name = `${Date.now().toString(36)}-${process.pid}-${this.#count++}`;
    this.#made.add(name);
    return { url: `${this.url}/${this.#owner}/${name}.git`, path: `/repos/${this.#owner}/${name}` };
  }

  /** Removes a repository that was made here.
   * @throws UnexpectedAnswer unless it is gone, or was never there */
  async remove(path: string): Promise<void> {
    this.#made.delete(path.split("/").at(-1)!);
    await this.demand(path, { method: "DELETE" }, [204, 404]);
  }

  /** Removes all that were made here, whatever was interrupted; tells which stay. */
  async removeAll(): Promise<void> {
    const going = new Target(this.url, this.#owner, null);
    for (const name of this.#made) {
      const path = `/repos/${this.#owner}/${name}`;
      await going.remove(path).catch((error: Error) => console.error(`${path} stays: ${error.message}`));
    }
  }

  /** Runs git in a folder. */
  git(dir: string, ...args: readonly string[]): Promise<GitResult> {
    return tryGit(dir, args, { signal: this.#signal });
  }

  /** Runs git in a folder, which must end well. @throws UnexpectedAnswer if it does not */
  async demandGit(dir: string, ...args: readonly string[]): Promise<GitResult> {
    const result = await this.git(dir, ...args);
    if (result.code === 0) return result;
    throw new UnexpectedAnswer(`git ${args[0]} ended with ${result.code}: ${result.stderr}`);
  }

  /** Asks the API. @param path below `/api` */
  ask<Body>(path: string, asked: Asked = {}): Promise<Answer<Body>> {
    return askApi<Body>(this, path, { ...asked, ...this.#abortable() });
  }

  /** Asks the API for what must be there.
   * @throws UnexpectedAnswer for any other status than these */
  async demand<Body>(path: string, asked: Asked = {}, statuses: readonly number[] = [200]): Promise<Body> {
    const { status, body } = await this.ask<Body>(path, asked);
    if (!statuses.includes(status)) throw unexpected(asked.method ?? "GET", path, status, JSON.stringify(body));
    return body;
  }

  /** Reads bytes by the API. @throws UnexpectedAnswer unless they are there */
  async read(path: string): Promise<{ readonly bytes: Buffer; readonly etag: string | null }> {
    const response = await fetch(`${this.url}/api${path}`, { headers: authorization(), ...this.#abortable() });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) throw unexpected("GET", path, response.status, bytes.toString());
    return { bytes, etag: response.headers.get("ETag") };
  }

  /** Asks for all pages, or until there are so many items.
   * @param list what it is called in the answers
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

/** Enough of an answer to know it by. */
const SHOWN_CHARACTERS = 300;

/** An answer as an error that tells all of it that matters. */
export function unexpected(method: string, path: string, status: number, text: string): UnexpectedAnswer {
  return new UnexpectedAnswer(`${method} ${path}: ${status} ${text.slice(0, SHOWN_CHARACTERS)}`);
}
