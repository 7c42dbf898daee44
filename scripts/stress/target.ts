/** The server under stress, as git and the API reach it. */
import { type Answer, askApi } from "../../test/harness/api.ts";
import { authorization } from "../../test/harness/authorization.ts";
import { type GitResult, tryGit } from "../../test/harness/git.ts";

/** An answer that nothing explains, or none at all. */
export class UnexpectedAnswer extends Error {}

/** A server by its URL. Who asks shows the token of HOLDFAST_TOKEN. */
export class Target {
  /** Without a slash at its end. */
  readonly url: string;
  readonly #signal: AbortSignal | undefined;

  /** @param signal ends whatever is under way */
  constructor(url: string, signal?: AbortSignal) {
    this.url = url;
    this.#signal = signal;
  }

  /** Runs git in a folder. */
  git(dir: string, ...args: readonly string[]): Promise<GitResult> {
    return tryGit(dir, args, { signal: this.#signal });
  }

  /** Asks the API. @param path below `/api` */
  ask<Body>(path: string, init: { readonly method?: string; readonly json?: unknown } = {}): Promise<Answer<Body>> {
    return askApi<Body>(this, path, { ...init, ...this.#abortable() });
  }

  /** Asks the API for what must be there.
   * @throws UnexpectedAnswer for any other status than these */
  async demand<Body>(
    path: string,
    init: { readonly method?: string; readonly json?: unknown } = {},
    statuses: readonly number[] = [200],
  ): Promise<Body> {
    const { status, body } = await this.ask<Body>(path, init);
    if (!statuses.includes(status)) throw unexpected(init.method ?? "GET", path, status, JSON.stringify(body));
    return body;
  }

  /** Reads bytes by the API. @throws UnexpectedAnswer unless they are there */
  async read(path: string): Promise<{ readonly bytes: Buffer; readonly etag: string | null }> {
    const response = await fetch(`${this.url}/api${path}`, { headers: authorization(), ...this.#abortable() });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) throw unexpected("GET", path, response.status, bytes.toString());
    return { bytes, etag: response.headers.get("ETag") };
  }

  /** Reads all pages of a list. @param list what it is called in the answers */
  async readPages<Item>(path: string, list: string): Promise<Item[]> {
    const items: Item[] = [];
    const join = path.includes("?") ? "&" : "?";
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: Record<string, unknown> = await this.demand(cursor === "" ? path : `${path}${join}cursor=${cursor}`);
      items.push(...(page[list] as Item[]));
      cursor = page["nextCursor"] as string | null;
    }
    return items;
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
