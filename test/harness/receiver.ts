import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that a receiver got. */
export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly atMs: number;
}

/** A webhook's endpoint: a real HTTP server on loopback. */
export class Receiver {
  /** All requests so far, also those that it did not accept. */
  readonly received: Received[] = [];
  /** Answers a request; default: 204. */
  answer: (request: Received, response: ServerResponse) => void = (_, response) => response.writeHead(204).end();
  readonly #server = createServer((request, response) => void this.#take(request, response));
  #waiting: () => void = () => undefined;

  static async open(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Waits until there were this many requests.
   * @throws Error when it takes longer */
  async count(wanted: number, waitMs = 20_000): Promise<readonly Received[]> {
    const endMs = Date.now() + waitMs;
    while (this.received.length < wanted) {
      const leftMs = endMs - Date.now();
      if (leftMs <= 0) throw new Error(`${this.received.length} requests have come, where ${wanted} were expected`);
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
        timer = setTimeout(resolve, leftMs);
      });
      clearTimeout(timer);
    }
    return this.received;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(piece as Buffer);
    } catch {
      return;
    }
    const headers = request.headers as Record<string, string>;
    const received = { headers, body: Buffer.concat(pieces).toString(), atMs: Date.now() };
    this.received.push(received);
    this.answer(received, response);
    this.#waiting();
  }
}
