import { Credentials } from "./credentials.ts";
import { type Body, persist, readAnswer, type SendOptions, Transport } from "./transport.ts";

/** Options of a request. */
interface RequestOptions extends SendOptions {
  /** 1: no retry; default: retries. */
  readonly tries?: 1;
}

/** Client of the API of one repository. */
export class Api {
  readonly #transport: Transport;
  /** `/api/repos/<owner>/<repo>`. */
  readonly #base: string;
  readonly #credentials: Credentials;
  /** The prompt that is open, so that the user is asked only once. */
  #asking: Promise<boolean> | null = null;

  private constructor(url: URL, credentials: Credentials, transport: Transport) {
    const path = url.pathname.replace(/\/+$/, "").replace(/\.git$/, "");
    this.#base = `/api/repos${path}`;
    this.#credentials = credentials;
    this.#transport = transport;
  }

  /** @param url of the repository */
  static async open(url: URL): Promise<Api> {
    return new Api(url, await Credentials.open(url), await Transport.open(url));
  }

  /** Owner and name, as in the URL. */
  get place(): { owner: string; name: string } {
    const [owner = "", name = ""] = this.#base.slice("/api/repos/".length).split("/");
    return { owner: decodeURIComponent(owner), name: decodeURIComponent(name) };
  }

  /** Sends a request, with retries while the network or the server fails.
   * @param path below the repository's; with two slashes at the beginning, below `/api`
   * @param how options, where they differ from the defaults
   * @returns the JSON of the answer; null: it has none
   * @throws ApiError, and the error of the network */
  ask<T = null>(method: string, path: string, body?: Body, how: RequestOptions = {}): Promise<T> {
    const target = path.startsWith("//") ? `/api${path.slice(1)}` : this.#base + path;
    const attempt = async (): Promise<T> => {
      for (;;) {
        const { header } = this.#credentials;
        const headers = { "User-Agent": "git-remote-holdfast", Accept: "application/json" };
        const authorized = header === null ? headers : { ...headers, Authorization: header };
        const answer = await this.#transport.send(method, target, authorized, body, how);
        if (answer.status === 401 && (await this.#askUser(header))) continue;
        if (answer.status !== 401) await this.#credentials.approve();
        return readAnswer<T>(answer) as T;
      }
    };
    return how.tries === 1 ? attempt() : persist(attempt);
  }

  /** Closes the connections. */
  close(): void {
    this.#transport.close();
  }

  /** @param refused the header that the server refused */
  async #askUser(refused: string | null): Promise<boolean> {
    // Another request has asked meanwhile.
    if (this.#credentials.header !== refused) return true;
    this.#asking ??= this.#credentials.ask().finally(() => (this.#asking = null));
    return this.#asking;
  }
}
