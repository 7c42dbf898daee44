import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

const LF = 10;

/** Reads lines from a stream, and finally the rest of it as bytes. */
export class LineReader {
  readonly #stream: Readable;
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#stream = stream;
    this.#pieces = stream.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  }

  /** Reads the next line without its LF, as a byte string; null: the stream has ended. */
  async next(): Promise<string | null> {
    for (let from = 0; ;) {
      const end = this.#rest.indexOf(LF, from);
      if (end >= 0) {
        const line = this.#rest.toString("latin1", 0, end);
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      from = this.#rest.length;
      const piece = await this.#pieces.next();
      if (piece.done === true) return null;
      this.#rest = Buffer.concat([this.#rest, piece.value]);
    }
  }

  /** Reads lines up to an empty one, or to the end. */
  async block(): Promise<string[]> {
    const lines: string[] = [];
    for (let line = await this.next(); line !== null && line !== ""; line = await this.next()) lines.push(line);
    return lines;
  }

  /** Pipes the rest of the stream. */
  async pipe(into: Writable): Promise<void> {
    if (this.#rest.length > 0) into.write(this.#rest);
    await this.#pieces.return?.();
    await new Promise<void>((resolve) => {
      this.#stream.on("end", resolve).pipe(into);
    });
  }
}

/** Git's own helper for HTTP, which commands are passed on to. */
export class Relay {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: LineReader;

  /** @param remote its name, or the URL
   * @param url of the repository */
  constructor(remote: string, url: string) {
    const scheme = url.slice(0, url.indexOf(":"));
    this.#child = spawn("git", [`remote-${scheme}`, remote, url], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdin.on("error", () => undefined);
    this.#child.on("close", (code) => {
      // The helper has printed the reason.
      if (code !== 0) process.exit(code ?? 1);
    });
    this.#lines = new LineReader(this.#child.stdout);
  }

  /** Sends lines. */
  send(lines: readonly string[]): void {
    this.#child.stdin.write(Buffer.from(lines.map((line) => `${line}\n`).join(""), "latin1"));
  }

  /** Reads a line of its answer. */
  async line(): Promise<string> {
    return (await this.#lines.next()) ?? "";
  }

  /** Reads its answer up to an empty line. */
  block(): Promise<string[]> {
    return this.#lines.block();
  }

  /** Pipes both directions until the connection ends. */
  async join(input: LineReader): Promise<void> {
    void input.pipe(this.#child.stdin);
    await this.#lines.pipe(process.stdout);
  }

  /** Ends the helper: an empty line is its last command. */
  end(): void {
    this.#child.stdin.end("\n");
  }
}
