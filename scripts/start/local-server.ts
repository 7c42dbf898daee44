import type { ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import "./shut-local-paths.ts";
import { Miniflare, type MiniflareOptions } from "miniflare";
import { EndWithParent } from "./end-with-parent.ts";
import { waitForHang } from "./health.ts";
import type { HeldSocket } from "./held-socket.ts";
import { watchRuntimes } from "./runtime-process.ts";

/** How long what is under way has when the server is told to end: people wait for no longer, nor do service managers. */
const STOP_MS = 10_000;

/** What takes longer to end than this has something under way. */
const IDLE_STOP_MS = 500;

/** Whoever ended so often within a minute ends again: nobody is served by one more start. */
const MAX_RESTARTS = 5;
const RESTARTS_MS = 60_000;

/** Whom a server tells what becomes of it. */
export interface ServerObserver {
  /** A line for people. */
  note(line: string): void;
  /** The last thing that happens. 0: it was told to end; 1: it could not go on. */
  ended(status: 0 | 1): void;
}

/** A Worker that is served on this machine, whatever becomes of the process that runs it: one that ends is started again, by Miniflare, and so is
 * one that hangs. */
export class LocalServer {
  readonly #observer: ServerObserver;
  readonly #socket: HeldSocket;
  readonly #parentWatch = new EndWithParent();
  readonly #watching = new AbortController();
  readonly #miniflare: Miniflare;
  #runtime: ChildProcess | null = null;
  /** Null until it answers. */
  #url: URL | null = null;
  /** How it ends, once it has been told to. */
  #status: 0 | 1 | null = null;
  /** Whether it has said that it waits for what is under way. */
  #isWaiting = false;
  /** When it was started again, on the clock of `performance`. */
  #restartsMs: number[] = [];

  constructor(options: MiniflareOptions, socket: HeldSocket, observer: ServerObserver) {
    this.#socket = socket;
    this.#observer = observer;
    wrapRuntime();
    watchRuntimes(null, (runtime) => this.#meet(runtime));
    this.#miniflare = withoutNewListeners(SIGNALS, () => new Miniflare(options));
  }

  /** Waits until it answers.
   * @returns its URL for this machine
   * @throws Error if it does not start */
  async ready(): Promise<URL> {
    try {
      this.#url = await this.#answer();
    } catch (error) {
      // Told to end meanwhile: whoever waits has nothing to wait for, and nothing is wrong.
      if (this.#status !== null) await new Promise(() => {});
      throw error;
    }
    void this.#endWhenHung(this.#url.href);
    return this.#url;
  }

  /** Ends it once what is under way is done, or `STOP_MS` are over. */
  stop(): void {
    if (this.#status !== null) return;
    if (this.#runtime === null) return this.#finish(0);
    this.#status = 0;
    this.#watching.abort();
    // On this it takes no more connections, closes those that wait for a request, and ends when the others are done.
    this.#runtime.kill("SIGTERM");
    this.#socket.refuse();
    setTimeout(() => {
      this.#isWaiting = true;
      this.#observer.note(`Waits up to ${STOP_MS / 1000} seconds for what is under way; Ctrl-C again ends it at once.`);
    }, IDLE_STOP_MS);
    setTimeout(() => {
      this.#observer.note("What was still under way is cut off. Nothing that was acknowledged is lost.");
      this.#finish(0);
    }, STOP_MS);
  }

  /** Ends it as somebody at a terminal asks for it: at once, when they have been told that it waits. A single Ctrl-C may come twice, from the
   * terminal and from npm. */
  interrupt(): void {
    if (this.#isWaiting) this.#finish(0);
    else this.stop();
  }

  async #answer(): Promise<URL> {
    const url = await this.#miniflare.ready;
    await (await fetch(url)).body?.cancel();
    return url;
  }

  /** A process of the runtime has been started: the first, or one in place of one that ended. */
  #meet(runtime: ChildProcess): void {
    this.#runtime = runtime;
    this.#parentWatch.watch(runtime.pid ?? null);
    runtime.once("exit", (code, signal) => {
      this.#runtime = null;
      this.#parentWatch.watch(null);
      if (this.#status !== null) this.#observer.ended(this.#status);
      // Before it has answered once, Miniflare says what is wrong.
      else if (this.#url !== null) this.#restart(signal ?? `status ${code}`);
    });
  }

  #restart(reason: string): void {
    const nowMs = performance.now();
    this.#restartsMs = [...this.#restartsMs.filter((oneMs) => nowMs - oneMs < RESTARTS_MS), nowMs];
    this.#observer.note(`The Workers runtime ended (${reason}). It is started again; what was under way is cut off.`);
    if (this.#restartsMs.length > MAX_RESTARTS) return this.#fail(`it ended ${MAX_RESTARTS + 1} times within a minute`);
    // Miniflare begins when all who wait for the process have been told.
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
    this.#observer.note(`Holdfast cannot go on: ${reason}`);
    this.#finish(1);
  }

  #finish(status: 0 | 1): void {
    this.#status = status;
    this.#watching.abort();
    // The data is its own until it is gone.
    if (this.#runtime === null) this.#observer.ended(status);
    else this.#runtime.kill("SIGKILL");
  }
}

/** The signals at which Miniflare would end this process, and the runtime, at once. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Does something, and takes back what it would do at signals: what is done then is for this process to say. */
function withoutNewListeners<T>(signals: readonly NodeJS.Signals[], action: () => T): T {
  const before = new Set(signals.flatMap((signal) => process.listeners(signal)));
  const result = action();
  for (const signal of signals)
    for (const listener of process.listeners(signal)) if (!before.has(listener)) process.off(signal, listener);
  return result;
}

/** Has Miniflare start the runtime by a script of ours. */
function wrapRuntime(): void {
  // No shell there, and no signals either.
  if (process.platform === "win32") return;
  const { default: workerd } = createRequire(import.meta.resolve("miniflare"))("workerd") as { default: string };
  process.env["HOLDFAST_WORKERD"] = process.env["MINIFLARE_WORKERD_PATH"] ?? workerd;
  process.env["MINIFLARE_WORKERD_PATH"] = join(import.meta.dirname, "workerd.sh");
}
