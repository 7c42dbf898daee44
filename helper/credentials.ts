import { git, readConfig } from "./git.ts";

/** Finds the authorisation of requests: `http.extraHeader`, the URL's, or, once the server requires
 * one, that of git's credential helpers. */
export class Credentials {
  readonly #url: URL;
  #header: string | null = null;
  /** Answer of the credential helpers, in their own format; null: none. */
  #filled: string | null = null;

  private constructor(url: URL) {
    this.#url = url;
  }

  /** @param url of the repository */
  static async open(url: URL): Promise<Credentials> {
    const credentials = new Credentials(url);
    const extra = await readConfig("http.extraHeader", url.href);
    const [, given] = /^authorization:\s*(.+)$/i.exec(extra ?? "") ?? [];
    if (given !== undefined) credentials.#header = given;
    else if (url.password !== "") credentials.#header = basic(decode(url.username), decode(url.password));
    return credentials;
  }

  /** The value of the header `Authorization`; null: none. */
  get header(): string | null {
    return this.#header;
  }

  /** Tells the credential helpers that the server has accepted the header. */
  async approve(): Promise<void> {
    if (this.#filled === null) return;
    await git(["credential", "approve"], [this.#filled]);
    this.#filled = null;
  }

  /** Asks for a header after the server has refused the last one, or requires one.
   * @returns whether there is another one to try
   * @throws Error when the user gives none */
  async ask(): Promise<boolean> {
    if (this.#filled !== null) {
      await git(["credential", "reject"], [this.#filled]);
      this.#filled = null;
    }
    // A header that the user has configured is not replaced.
    else if (this.#header !== null) return false;
    const { protocol, host, pathname, username } = this.#url;
    const wanted = [`protocol=${protocol.slice(0, -1)}`, `host=${host}`, `path=${decode(pathname.slice(1))}`];
    if (username !== "") wanted.push(`username=${decode(username)}`);
    this.#filled = (await git(["credential", "fill"], [...wanted, ""])).replace(/\n+$/, "\n");
    const given = new Map(this.#filled.split("\n").map((line) => splitAt(line, "=")));
    this.#header = basic(given.get("username") ?? "", given.get("password") ?? "");
    return true;
  }
}

function splitAt(line: string, mark: string): [string, string] {
  const at = line.indexOf(mark);
  return [line.slice(0, at), line.slice(at + mark.length)];
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function decode(part: string): string {
  return decodeURIComponent(part);
}
