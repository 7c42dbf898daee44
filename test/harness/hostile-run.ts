/** Pushes hostile histories, and sends every possible request about each: every route of the API,
 * every page, and every kind of fetch. */
import { writeFileSync } from "node:fs";
import { inspect } from "node:util";
import { DEFAULT_LIMITS } from "../../src/base/format/configured-limits.ts";
import type { OpenApiDocument } from "../../src/worker/web/api-docs/open-api.ts";
import { askApi } from "./api.ts";
import type { HostileHistory } from "./hostile-draft.ts";
import { toLongRequests } from "./hostile-lists.ts";
import { toPages } from "./hostile-pages.ts";
import { type Request, toCalls, toFetches, toPush } from "./hostile-requests.ts";
import { IsolateWatch } from "./isolate-memory.ts";
import { makeTree, packOf, makeCommit } from "./pack-builder.ts";
import { readUsage } from "./process.ts";
import { Random } from "./random.ts";
import { request } from "./raw.ts";
import { sendPush } from "./raw-push.ts";
import { findFreePort, type Server, startServer } from "./server.ts";

/** Time limit of a response: by the clock, or by the server's CPU if the machine has other work.
 * Waiting without CPU is limited too. */
const BOUND_SECONDS = 2;
const WAIT_SECONDS = 10;

/** Memory limit of a response: by the rise of the process, or by all that the isolate has in its
 * heap and buffers while its garbage is collected whenever it yields. The process also holds
 * garbage that V8 has yet to collect, and R2's simulator, through which a job writes thousands of
 * files. */
const BOUND_BYTES = 64 * 1024 * 1024;

/** Characters of an answer. The object passes at most 32 MiB to the Worker. */
const BOUND_ANSWER = 40 * 1024 * 1024;

/** Bytes of a stream that are read, and for how long: it may be endless. */
const READ_BYTES = 1024 * 1024;
const READ_MS = 500;

/** Bytes of a page, and of an answer in JSON or XML. Files, archives and patches are streams. */
const BOUND_ANSWER_BYTES = 8 * 1024 * 1024;
const STRUCTURED = /json|html|xml/;
const STREAMED = /\/archive\/|\/raw\/|\.(diff|patch)$/;

const GIVE_UP_MS = 120_000;

/** Each request has a connection of its own: the server may close a kept one just as a request goes
 * out on it. */
const UNKEPT = { connection: "close" };

/** Runs all due jobs, so its duration is not limited. It must still succeed. */
const UNTIMED = new Set(["post /repos/{owner}/{repo}/maintenance", "push of a bomb"]);

/** A request with a wrong response. */
export interface Misanswer {
  readonly seed: number;
  readonly shape: string;
  readonly request: string;
  readonly reason: string;
}

/** The cost of a request. */
export interface Cost {
  readonly request: string;
  readonly shape: string;
  readonly seed: number;
  readonly seconds: number;
  readonly bytes: number;
}

interface Answer {
  /** Empty: it was answered well. */
  readonly reason: string;
  /** CPU, or the clock if that is less. */
  readonly seconds: number;
  readonly wall: number;
  readonly bytes: number;
}

/** Runs hostile histories against one server. */
export class HostileRun {
  readonly #server: Server;
  readonly #inspectorPort: number;
  readonly #document: OpenApiDocument;
  readonly misanswers: Misanswer[] = [];
  /** The most expensive request of each name. */
  readonly dearest = new Map<string, Cost>();
  /** The request that took longest (of those with a limit), and the one that took most memory. */
  slowest: Cost | null = null;
  largest: Cost | null = null;
  #longestWaitSeconds = 0;
  /** What is asked meanwhile. */
  #asking = "";

  private constructor(server: Server, inspectorPort: number, document: OpenApiDocument) {
    this.#server = server;
    this.#inspectorPort = inspectorPort;
    this.#document = document;
  }

  /** Starts a server with a second repository, which is requested meanwhile. */
  static async open(): Promise<HostileRun> {
    const inspectorPort = await findFreePort();
    // As deployed, jobs make way for requests: otherwise their work would count for whoever asks.
    const vars = { LIMITS: JSON.stringify({ quietMs: DEFAULT_LIMITS.quietMs }) };
    const server = await startServer({ inspectorPort, vars });
    const { body } = await askApi<OpenApiDocument>(server, "/openapi.json");
    const root = makeTree();
    const commit = makeCommit(root);
    const commands = [{ name: "refs/heads/main", new: commit.oid }];
    await sendPush(`${server.url}/calm/repo.git`, { commands, pack: packOf(root, commit) });
    return new HostileRun(server, inspectorPort, body);
  }

  /** Ends the server. */
  close(): Promise<void> {
    return this.#server.close();
  }

  /** Pushes a history and sends all requests about it, while another repository is served.
   * @param seed of the history, by which its repository is named
   * @param isAsked whether a request is sent, by its name */
  async run(seed: number, history: HostileHistory, isAsked: (name: string) => boolean = () => true): Promise<void> {
    let ended = false;
    const others = (async () => {
      while (!ended) {
        await this.#measureCalm(seed, history);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    const name = `h${seed}`;
    const ask = async (request: Request): Promise<void> => {
      if (isAsked(request.name)) await this.#ask(seed, history, request);
    };
    try {
      await this.#ask(seed, history, pushOf(name, history));
      for (const request of toFetches(name, history)) await ask(request);
      for (const request of toPages(name, history)) await ask(request);
      for (const request of toLongRequests(name, history, new Random(seed))) await ask(request);
      const upload = await this.#beginUpload(name);
      for (const request of toCalls(this.#document, name, upload, history)) await ask(request);
    } finally {
      ended = true;
      await others;
    }
  }

  /** @returns its id; one that nobody has, if the history was refused and there is no repository */
  async #beginUpload(name: string): Promise<string> {
    const path = `/repos/hostile/${name}/uploads`;
    const { body } = await askApi<{ id?: string }>(this.#server, path, { method: "POST", json: {} });
    return body.id ?? crypto.randomUUID();
  }

  /** Longest response time of the other repository. */
  get longestWaitSeconds(): number {
    return this.#longestWaitSeconds;
  }

  async #measureCalm(seed: number, { shape }: HostileHistory): Promise<void> {
    const startMs = performance.now();
    const cpuBefore = readUsage(this.#server.pid).cpuSeconds;
    // Its own connection: the server may close a kept one just as a request goes out on it.
    const { status } = await request(`${this.#server.url}/calm/repo.git/info/refs?service=git-upload-pack`);
    const wall = (performance.now() - startMs) / 1000;
    const seconds = Math.min(wall, readUsage(this.#server.pid).cpuSeconds - cpuBefore);
    this.#longestWaitSeconds = Math.max(this.#longestWaitSeconds, seconds);
    if (status === 200 && seconds <= BOUND_SECONDS && wall <= WAIT_SECONDS) return;
    const reason = `others waited ${seconds.toFixed(1)} s (${wall.toFixed(1)} s by the clock; ${status}), during ${this.#asking}`;
    this.misanswers.push({ seed, shape, request: "GET of another repository", reason });
  }

  async #ask(seed: number, { shape }: HostileHistory, request: Request): Promise<void> {
    const isUntimed = UNTIMED.has(request.name);
    this.#asking = `${request.method} ${request.path}`;
    const { seconds, wall, ...answer } = await this.#send(request, isUntimed);
    let { reason, bytes } = answer;
    if (!isUntimed && (seconds > BOUND_SECONDS || wall > WAIT_SECONDS))
      reason += ` took ${seconds.toFixed(1)} s (${wall.toFixed(1)} s by the clock)`;
    if (!isUntimed && bytes > BOUND_BYTES) bytes = Math.min(bytes, (await this.#send(request, true)).bytes);
    if (reason === "" && bytes > BOUND_BYTES) reason = `took ${Math.round(bytes / 2 ** 20)} MiB`;
    if (reason !== "") this.misanswers.push({ seed, shape, request: `${request.method} ${request.path}`, reason });
    this.#note(request.name, { request: `${request.method} ${request.path}`, shape, seed, seconds, bytes });
  }

  /** Sends a request and reads the response.
   * @param isCollected whether to collect the isolate's garbage all the time */
  async #send(request: Request, isCollected: boolean): Promise<Answer> {
    const { pid, url } = this.#server;
    // Resets the peak of memory.
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
    const before = readUsage(pid);
    const watch = isCollected ? await IsolateWatch.begin(this.#inspectorPort, "holdfast") : null;
    const startMs = performance.now();
    let reason = "";
    try {
      const response = await fetch(url + request.path, {
        method: request.method,
        headers: { ...request.headers, ...UNKEPT },
        ...(request.body === undefined ? {} : { body: request.body as string | Uint8Array<ArrayBuffer> }),
        signal: AbortSignal.timeout(GIVE_UP_MS),
        redirect: "manual",
      });
      const text = STREAMED.test(request.path) ? await readSome(response) : await response.text();
      if (text.length > BOUND_ANSWER) reason = `it has ${text.length} characters`;
      const fits = request.statuses?.includes(String(response.status)) ?? response.status < 500;
      if (!fits || response.status >= 500 || request.answer?.test(text) === false)
        reason = `status ${response.status}: ${text.slice(0, 200)}`;
      else if (text.length > BOUND_ANSWER_BYTES && STRUCTURED.test(response.headers.get("content-type") ?? ""))
        reason = `an answer of ${text.length} bytes`;
    } catch (error) {
      reason = inspect(error);
    }
    const wall = (performance.now() - startMs) / 1000;
    const after = readUsage(pid);
    const isolateBytes = (await watch?.end()) ?? Infinity;
    return {
      reason,
      wall,
      seconds: Math.min(wall, after.cpuSeconds - before.cpuSeconds),
      bytes: Math.min(isolateBytes, Math.max(0, after.peakMemoryBytes - before.memoryBytes)),
    };
  }

  #note(name: string, cost: Cost): void {
    const { seconds, bytes } = cost;
    if ((this.dearest.get(name)?.seconds ?? -1) < seconds) this.dearest.set(name, cost);
    if (!UNTIMED.has(name) && (this.slowest?.seconds ?? -1) < seconds) this.slowest = cost;
    if ((this.largest?.bytes ?? -1) < bytes) this.largest = cost;
  }
}

/** A push inflates and hashes all that it brings, which takes its time if that is hundreds of
 * megabytes. Others are served meanwhile. */
function pushOf(name: string, history: HostileHistory): Request {
  const push = toPush(name, history);
  return history.isBomb === true ? { ...push, name: "push of a bomb" } : push;
}

async function readSome(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const endMs = performance.now() + READ_MS;
  const reader = response.body?.getReader();
  while (reader !== undefined && length <= READ_BYTES && performance.now() < endMs) {
    const step = await Promise.race([
      reader.read(),
      new Promise<null>((resolve) => setTimeout(resolve, READ_MS, null)),
    ]);
    if (step === null || step.done) break;
    pieces.push(step.value);
    length += step.value.length;
  }
  await reader?.cancel();
  return Buffer.concat(pieces).toString();
}
