import type { RepositoryEventRecord } from "../../src/contract/events.ts";

/** Reads a stream of Server-Sent Events.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation */
export class EventReader {
  readonly #abort: AbortController;
  readonly #blocks: AsyncGenerator<string, void, void>;

  private constructor(abort: AbortController, blocks: AsyncGenerator<string, void, void>) {
    this.#abort = abort;
    this.#blocks = blocks;
  }

  /** @throws Error unless the answer is a stream */
  static async open(url: string, headers: Readonly<Record<string, string>>): Promise<EventReader> {
    const abort = new AbortController();
    const response = await fetch(url, { headers, signal: abort.signal });
    const type = response.headers.get("Content-Type");
    if (response.status !== 200 || type !== "text/event-stream") throw new Error(`${response.status} ${type}`);
    return new EventReader(abort, splitBlocks(response.body!));
  }

  /** The next event.
   * @throws Error when the stream ends before */
  async next(): Promise<RepositoryEventRecord> {
    for (;;) {
      const fields = new Map(
        (await this.#block()).split("\n").map((line) => line.split(/: (.*)/s) as [string, string]),
      );
      const data = fields.get("data");
      if (data === undefined) continue;
      const event = JSON.parse(data) as RepositoryEventRecord;
      if (event.id !== fields.get("id") || event.type !== fields.get("event")) throw new Error(data);
      return event;
    }
  }

  /** Waits for a comment. */
  async comment(): Promise<void> {
    while (!(await this.#block()).startsWith(":"));
  }

  close(): void {
    this.#abort.abort();
  }

  async #block(): Promise<string> {
    const { value, done } = await this.#blocks.next();
    if (done === true) throw new Error("the stream has ended");
    return value;
  }
}

async function* splitBlocks(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of body) {
      text += decoder.decode(bytes, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      yield* blocks;
    }
  } catch {
    // Cut off, which is an end, too.
  }
}
