import { encodeText, fromByteString } from "../../base/format/byte-string.ts";
import { FLUSH_PKT } from "../../base/format/pkt-line.ts";
import { encodeSideBand, PACK_BAND, PROGRESS_BAND } from "../../base/format/side-band.ts";
import { resultResponse } from "../../base/http/smart-http.ts";

/** Interval between two lines of progress (ms), the same as git's. */
const PROGRESS_EVERY_MS = 500;

/** Interval between keep-alive packets while nothing else is sent (ms).
 * @see git-config(1) receive.keepAlive */
const KEEP_ALIVE_EVERY_MS = 5_000;

/** An empty packet on band 1, which clients skip. */
const KEEP_ALIVE_PKT = fromByteString("0005\x01");

/** The side-band response to a push. It begins with the first message; until then, the request can
 * still be answered with an HTTP status of its own. A client that disconnects does not stop the
 * push. */
export class PushChannel {
  readonly #quiet: boolean;
  readonly #begin: (response: Response) => void;
  /** The response, once it has begun. */
  readonly begun: Promise<Response>;
  #body: ReadableStreamDefaultController<Uint8Array> | null = null;
  #gone = false;
  #mayBegin = false;
  #keepAlive: ReturnType<typeof setInterval> | undefined;
  #toldAtMs = Date.now();
  #endedTitle = "";

  /** @param quiet the client wants no progress */
  constructor(quiet: boolean) {
    this.#quiet = quiet;
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.begun = promise;
    this.#begin = resolve;
  }

  /** Whether the response has begun, so that its status is final. */
  get hasBegun(): boolean {
    return this.#body !== null;
  }

  /** Lets the response begin: the client has shown that it sends a pack at a fair speed. */
  allowBegin(): void {
    this.#mayBegin = true;
  }

  /** From here on only the server works, perhaps for long: idle connections get cut by proxies. */
  keepAlive(): void {
    this.#mayBegin = true;
    this.#keepAlive ??= setInterval(() => this.#send(KEEP_ALIVE_PKT), KEEP_ALIVE_EVERY_MS);
  }

  /** Reports how far a phase is, at most every `PROGRESS_EVERY_MS`, and when it ends. */
  progress(title: string, done: number, total: number): void {
    if (this.#quiet || !this.#mayBegin || total === 0 || title === this.#endedTitle) return;
    const ended = done >= total;
    const now = Date.now();
    if (!ended && now - this.#toldAtMs < PROGRESS_EVERY_MS) return;
    this.#toldAtMs = now;
    if (ended) this.#endedTitle = title;
    const percent = `${Math.floor((100 * done) / total)}`.padStart(3);
    const line = `${title}: ${percent}% (${done}/${total})${ended ? ", done.\n" : "\r"}`;
    for (const pkt of encodeSideBand(PROGRESS_BAND, fromByteString(encodeText(line)))) this.#send(pkt);
  }

  /** Shows the user a line, even one who wants no progress: git asks for none whenever it does not
   * write to a terminal.
   * @param line without its LF */
  tell(line: string): void {
    for (const pkt of encodeSideBand(PROGRESS_BAND, fromByteString(encodeText(`${line}\n`)))) this.#send(pkt);
  }

  /** Sends the report, which may be empty, and the flush packet; `close` must follow. */
  report(report: Uint8Array): void {
    clearInterval(this.#keepAlive);
    for (const pkt of encodeSideBand(PACK_BAND, report)) this.#send(pkt);
    this.#send(FLUSH_PKT);
  }

  /** Ends the response, if it has begun, and the keep-alive packets. */
  close(): void {
    clearInterval(this.#keepAlive);
    if (!this.#gone) this.#body?.close();
  }

  #send(pkt: Uint8Array): void {
    if (this.#body === null) {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#body = controller;
        },
        cancel: () => {
          this.#gone = true;
        },
      });
      this.#begin(resultResponse("git-receive-pack", body));
    }
    if (!this.#gone) this.#body?.enqueue(pkt);
  }
}
