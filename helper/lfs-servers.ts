import { ApiError, type Body, persist, readAnswer, type Sent, Transport } from "./transport.ts";

/** The servers that receive files: Holdfast, and perhaps its bucket. */
export class LfsServers {
  readonly #transports = new Map<string, Promise<Transport>>();

  /** Sends a request, with retries while the network or the server fails.
   * @param header that the server has given for it
   * @param probe request to make when the connection ends while a body is sent: a server that
   * refuses the body may answer before the client reads
   * @returns the JSON of the answer; null: it has none
   * @throws ApiError, and the error of the network */
  async ask<T = null>(
    method: string,
    address: string,
    header: Readonly<Record<string, string>>,
    body?: Body,
    sent: Sent = () => undefined,
    probe?: string,
  ): Promise<T> {
    const url = new URL(address);
    const transport = await this.#open(url);
    const headers = { "User-Agent": "git-lfs-holdfast", Accept: "application/vnd.git-lfs+json", ...header };
    const send = async (...request: [string, URL, Body?]): Promise<T> => {
      const [how, { pathname, search }, what] = request;
      return readAnswer<T>(await transport.send(how, pathname + search, headers, what, { sent })) as T;
    };
    return persist(async () => {
      try {
        return await send(method, url, body);
      } catch (error) {
        if (probe !== undefined && !(error instanceof ApiError)) await send("GET", new URL(probe));
        throw error;
      }
    });
  }

  /** Closes the connections. */
  close(): void {
    for (const opening of this.#transports.values()) void opening.then((transport) => transport.close());
  }

  #open(url: URL): Promise<Transport> {
    const opening = this.#transports.get(url.origin) ?? Transport.open(url);
    this.#transports.set(url.origin, opening);
    return opening;
  }
}
