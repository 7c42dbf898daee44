import type { ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import "./shut-local-paths.ts";
import { Miniflare, type MiniflareOptions } from "miniflare";
import { EndWithParent } from "./end-with-parent.ts";
import { waitForHang } from "./health.ts";
import type { HeldSocket } from "./held-socket.ts";
import { watchRuntimes } from "./runtime-process.ts";

/** How long requests in progress may take after the server was told to end. Neither people nor
 * service managers wait longer. */
const STOP_MS = 10_000;

/** A server that takes longer than this to end has requests in progress. */
const IDLE_STOP_MS = 500;

/** After this many restarts within a minute, another one would not help. */
const MAX_RESTARTS = 5;
const RESTARTS_MS = 60_000;

/** Gets the server's messages. */
export interface ServerObserver {
  /** A line for people. */
  note(line: string): void;
  /** The last call. 0: the server was told to end; 1: it failed. */
  ended(status: 0 | 1): void;
}

/** A Worker served on this machine. If its process ends, Miniflare starts it again; if it hangs,
 * this class does. */
export class LocalServer {
  readonly #observer: ServerObserver;
  readonly #socket: HeldSocket;
  readonly #parentWatch = new EndWithParent();
  readonly #watching = new AbortController();
  readonly #miniflare: Miniflare;
  #runtime: ChildProcess | null = null;
  /** Null until the server answers. */
  #url: URL | null = null;
  /** The exit status, once it has been told to end. */
  #status: 0 | 1 | null = null;
  /** Whether it has printed that it waits for requests in progress. */
  #isWaiting = false;
  /** When it was restarted, on the clock of `performance`. */
  #restartsMs: number[] = [];

  constructor(options: MiniflareOptions, socket: HeldSocket, observer: ServerObserver) {
    this.#socket = socket;
    this.#observer = observer;
    wrapRuntime();
    watchRuntimes(null, (runtime) => this.#meet(runtime));
    this.#miniflare = withoutNewListeners(SIGNALS, () => new Miniflare(options));
  }

  /** Waits until the server answers.
   * @returns its URL for this machine
   * @throws Error if it does not start */
  async ready(): Promise<URL> {
    try {
      this.#url = await this.#answer();
    } catch (error) {
      // It was told to end during the start: that is no error, and the process is about to exit.
      if (this.#status !== null) await new Promise(() => {});
      throw error;
    }
    void this.#endWhenHung(this.#url.href);
    return this.#url;
  }

  /** Ends the server once the requests in progress are done, at the latest after `STOP_MS`.
   * @param reason for people */
  stop(reason: string): void {
    if (this.#status !== null) return;
    this.#observer.note(`Holdfast ends: ${reason}.`);
    if (this.#runtime === null) return this.#finish(0);
    this.#status = 0;
    this.#watching.abort();
    // On SIGTERM the runtime accepts no more connections, closes idle ones, and ends when the
    // others are done.
    this.#runtime.kill("SIGTERM");
    this.#socket.refuse();
    setTimeout(() => {
      this.#isWaiting = true;
      this.#observer.note(
        `Waits up to ${STOP_MS / 1000} seconds for requests in progress; Ctrl-C again ends it at once.`,
      );
    }, IDLE_STOP_MS);
    setTimeout(() => {
      this.#observer.note("Requests still in progress are cut off. Nothing that was acknowledged is lost.");
      this.#finish(0);
    }, STOP_MS);
  }

  /** Ends the server for a user at a terminal. A second interrupt ends it at once, but only after
   * it has printed that it waits: a single Ctrl-C may arrive twice, from the terminal and from
   * npm. */
  interrupt(signal: NodeJS.Signals): void {
    if (this.#isWaiting) this.#finish(0);
    else this.stop(signal);
  }

  async #answer(): Promise<URL> {
    const url = await this.#miniflare.ready;
    await (await fetch(url)).body?.cancel();
    return url;
  }

  /** Handles a new process of the runtime: the first, or a restarted one. */
  #meet(runtime: ChildProcess): void {
    this.#runtime = runtime;
    this.#parentWatch.watch(runtime.pid ?? null);
    runtime.once("exit", (code, signal) => {
      this.#runtime = null;
      this.#parentWatch.watch(null);
      if (this.#status !== null) this.#observer.ended(this.#status);
      // Before the first answer, Miniflare reports the error.
      else if (this.#url !== null) this.#restart(signal ?? `status ${code}`);
    });
  }

  #restart(reason: string): void {
    const nowMs = performance.now();
    this.#restartsMs = [...this.#restartsMs.filter((oneMs) => nowMs - oneMs < RESTARTS_MS), nowMs];
    this.#observer.note(
      `The Workers runtime ended (${reason}). It is started again; requests in progress are cut off.`,
    );
    if (this.#restartsMs.length > MAX_RESTARTS) return this.#fail(`it ended ${MAX_RESTARTS + 1} times within a minute`);
    // Miniflare continues after all listeners for the process have run.
    setTimeout(() => {
      this.#answer().then(
        () => this.#observer.note("The Workers runtime serves again."),
        (error: unknown) => this.#runtime === null && this.#fail((error as Error).message),
      );
    });
  }

  async #endWhenHung(url: string): Promise<void> {
    const { signal } = this.#watching;
    while (!signal.aborted) {
      const silentMs = await waitForHang(url, () => this.#runtime?.pid ?? null, signal);
      this.#observer.note(`The Workers runtime has not answered for ${Math.round(silentMs / 1000)} seconds.`);
      this.#runtime?.kill("SIGKILL");
    }
  }

  #fail(reason: string): void {
    this.#observer.note(`Holdfast cannot continue: ${reason}`);
    this.#finish(1);
  }

  #finish(status: 0 | 1): void {
    this.#status = status;
    this.#watching.abort();
    // The runtime owns the data until it has ended.
    if (this.#runtime === null) this.#observer.ended(status);
    else this.#runtime.kill("SIGKILL");
  }
}

/** The signals at which Miniflare would end this process and the runtime at once. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Runs something, and removes the signal handlers that it adds: this process handles signals
 * itself. */
function withoutNewListeners<T>(signals: readonly NodeJS.Signals[], action: () => T): T {
  const before = new Set(signals.flatMap((signal) => process.listeners(signal)));
  const result = action();
  for (const signal of signals)
    for (const listener of process.listeners(signal)) if (!before.has(listener)) process.off(signal, listener);
  return result;
}

/** Makes Miniflare start the runtime through workerd.sh. */
function wrapRuntime(): void {
  // Windows has no shell, and no signals either.
  if (process.platform === "win32") return;
  const { default: workerd } = createRequire(import.meta.resolve("miniflare"))("workerd") as { default: string };
  process.env["HOLDFAST_WORKERD"] = process.env["MINIFLARE_WORKERD_PATH"] ?? workerd;
  process.env["MINIFLARE_WORKERD_PATH"] = join(import.meta.dirname, "workerd.sh");
}
