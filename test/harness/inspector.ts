/** A client of V8's inspector, which workerd opens for each isolate.
 * @see https://chromedevtools.github.io/devtools-protocol/ */

/** One isolate, as the inspector lists it. */
export interface Target {
  /** `core:user:<name>` is a Worker; all others belong to Miniflare. */
  readonly id: string;
  readonly webSocketDebuggerUrl: string;
}

/** A connection to the inspector of one isolate. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#answer(String(data)));
    socket.addEventListener("close", () => {
      for (const call of this.#pending.values()) call.reject(new Error("the inspector closed the connection"));
    });
  }

  /** @throws Error if it cannot be reached */
  static async connect(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", () => reject(new Error(`the inspector at ${url} does not answer`)));
    });
    return new Inspector(socket);
  }

  /** @throws Error if the isolate refuses, or is gone */
  call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  close(): void {
    this.#socket.close();
  }

  #answer(text: string): void {
    const { id, result, error } = JSON.parse(text) as { id?: number; result?: unknown; error?: { message: string } };
    const call = id === undefined ? undefined : this.#pending.get(id);
    if (id === undefined || call === undefined) return;
    this.#pending.delete(id);
    if (error === undefined) call.resolve(result);
    else call.reject(new Error(`the inspector says: ${error.message}`));
  }
}

/** The isolates behind an inspector.
 * @throws Error if it does not answer */
export async function listTargets(port: number): Promise<Target[]> {
  return (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as Target[];
}
