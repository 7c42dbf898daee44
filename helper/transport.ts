import { createReadStream, readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { pipeline, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "./git.ts";

/** Maximum number of tries of a request, and the wait (ms) before the first retry; it doubles each
 * time, up to the maximum. Together some four minutes. */
const TRIES = 12;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** Statuses for which a retry may succeed. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

/** Bytes of a file that are read at once. */
const READ_BYTES = 256 * 1024;

/** Milliseconds without a byte after which a connection counts as lost. */
const SILENCE_MS = 120_000;

/** The error in an answer. */
interface Failure {
  readonly code: string | null;
  readonly message: string;
  readonly limitKind?: string;
}

/** An answer of the server that reports a failure. */
export class ApiError extends Error {
  readonly status: number;
  /** The API's code, or "lfs"; null: the answer came from a proxy in between. */
  readonly code: string | null;
  /** The kind of limit that was exceeded, where known: `LimitKind`. */
  readonly limitKind: string | undefined;

  constructor(status: number, { code, message, limitKind }: Failure) {
    super(message);
    this.status = status;
    this.code = code;
    this.limitKind = limitKind;
  }
}

/** The body of a request: JSON, a stream of bytes, or a file. */
export type Body =
  | { readonly json: unknown }
  | { readonly pieces: AsyncIterable<Buffer> }
  | { readonly path: string; readonly sizeBytes: number; /** Default: 0. */ readonly from?: number };

/** An answer of a server. */
interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Called with each number of bytes sent, except for JSON; a negative number subtracts the bytes of
 * a failed try. */
export type Sent = (bytes: number) => void;

/** Options for sending a request. */
export interface SendOptions {
  readonly sent?: Sent;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

/** Sends requests to one server, with git's settings for it. */
export class Transport {
  readonly #origin: URL;
  readonly #options: https.AgentOptions;
  readonly #agent: http.Agent;

  private constructor(origin: URL, options: https.AgentOptions) {
    this.#origin = origin;
    this.#options = options;
    const { Agent } = origin.protocol === "https:" ? https : http;
    this.#agent = new Agent({ keepAlive: true, ...options });
  }

  /** @param url any URL of the server */
  static async open(url: URL): Promise<Transport> {
    const caFile = await readConfig("http.sslCAInfo", url.href);
    const verifies = (await readConfig("http.sslVerify", url.href)) !== "false";
    return new Transport(url, { rejectUnauthorized: verifies, ...(caFile !== null && { ca: readFileSync(caFile) }) });
  }

  /** Closes the connections. */
  close(): void {
    this.#agent.destroy();
  }

  /** Sends a request once.
   * @param target path and query
   * @throws the error of the network */
  send(
    method: string,
    target: string,
    given: http.OutgoingHttpHeaders,
    body: Body | undefined,
    { sent = () => undefined, signal }: SendOptions,
  ): Promise<Answer> {
    const { protocol, hostname, port } = this.#origin;
    const json = body !== undefined && "json" in body ? JSON.stringify(body.json) : null;
    const headers: http.OutgoingHttpHeaders = { ...given };
    if (json !== null) headers["Content-Type"] = "application/json";
    if (body !== undefined && json === null) headers["Content-Type"] = "application/octet-stream";
    if (body !== undefined && "path" in body) headers["Content-Length"] = body.sizeBytes;
    return new Promise((resolve, reject) => {
      let sentBytes = 0;
      const fail = (error: Error): void => {
        sent(-sentBytes);
        sentBytes = 0;
        reject(error);
      };
      const { request: open } = protocol === "https:" ? https : http;
      const settings = {
        hostname,
        port,
        method,
        path: target,
        headers,
        agent: this.#agent,
        timeout: SILENCE_MS,
        signal,
      };
      const request = open({ ...settings, ...this.#options }, (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("error", fail);
        response.on("end", () => {
          const status = response.statusCode ?? 0;
          if (status >= 300) sent(-sentBytes);
          resolve({ status, text: Buffer.concat(pieces).toString() });
        });
      });
      request.on("timeout", () => request.destroy(new Error("the server is silent")));
      request.on("error", fail);
      if (body === undefined || "json" in body) return void request.end(json ?? undefined);
      const bytes = openBody(body);
      if (bytes === null) return void request.end();
      bytes.on("data", (piece: Buffer) => {
        sentBytes += piece.length;
        sent(piece.length);
      });
      // An error of either stream ends the request, which reports it.
      pipeline(bytes, request, () => undefined);
    });
  }
}

/** @returns null: the body is empty */
function openBody(body: Exclude<Body, { json: unknown }>): Readable | null {
  if ("pieces" in body) return Readable.from(body.pieces);
  const { path, from = 0, sizeBytes } = body;
  if (sizeBytes === 0) return null;
  return createReadStream(path, { highWaterMark: READ_BYTES, start: from, end: from + sizeBytes - 1 });
}

/** Retries a request while the network or the server fails.
 * @throws ApiError, and the error of the network */
export async function persist<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1, waitMs = FIRST_WAIT_MS; ; tries++, waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === TRIES || (error instanceof ApiError && !PASSING.has(error.status))) throw error;
    }
    await sleep(waitMs * (1 + Math.random()) * 0.5);
  }
}

/** Parses the value of an answer.
 * @returns null: it has none
 * @throws ApiError when it reports a failure */
export function readAnswer<T>({ status, text }: Answer): T | null {
  const value = parse<T & { error?: Failure; message?: string }>(text);
  if (status < 300 && value?.error === undefined) return value;
  if (value?.error !== undefined) throw new ApiError(status, value.error);
  if (typeof value?.message === "string") throw new ApiError(status, { code: "lfs", message: value.message });
  const [line = ""] = text
    .replaceAll(/<[^>]*>/g, " ")
    .trim()
    .split("\n");
  const message = `the server answered ${status}${line === "" ? "" : `: ${line.slice(0, 200)}`}`;
  throw new ApiError(status, { code: null, message });
}

function parse<T>(text: string): T | null {
  try {
    return text.trim() === "" ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}
