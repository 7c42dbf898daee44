import { createReadStream, readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { Credentials } from "./credentials.ts";
import { readConfig } from "./git.ts";

/** How often a request is tried, and the wait (ms) before the second time; it doubles each time, up
 * to the longest. Together some four minutes. */
const TRIES = 12;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** Statuses that another attempt may change. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

/** Milliseconds without a byte after which a connection counts as lost. */
const SILENCE_MS = 120_000;

/** An answer of the server that is no success. */
export class ApiError extends Error {
  readonly status: number;
  /** The API's code; null: something in between has answered. */
  readonly code: string | null;

  constructor(status: number, code: string | null, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The body of a request: JSON, or a file. */
export type Body = { readonly json: unknown } | { readonly path: string; readonly sizeBytes: number };

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The API of one repository. */
export class Api {
  readonly #origin: URL;
  /** `/api/repos/<owner>/<repo>`. */
  readonly #base: string;
  readonly #credentials: Credentials;
  readonly #options: https.AgentOptions;
  readonly #agent: http.Agent;
  /** The question that is open, so that the user is asked once. */
  #asking: Promise<boolean> | null = null;

  private constructor(url: URL, credentials: Credentials, options: https.AgentOptions) {
    const path = url.pathname.replace(/\/+$/, "").replace(/\.git$/, "");
    this.#origin = url;
    this.#base = `/api/repos${path}`;
    this.#credentials = credentials;
    this.#options = options;
    const { Agent } = url.protocol === "https:" ? https : http;
    this.#agent = new Agent({ keepAlive: true, ...options });
  }

  /** @param url of the repository */
  static async open(url: URL): Promise<Api> {
    const credentials = await Credentials.open(url);
    const caFile = await readConfig("http.sslCAInfo", url.href);
    const verifies = (await readConfig("http.sslVerify", url.href)) !== "false";
    const options = { rejectUnauthorized: verifies, ...(caFile !== null && { ca: readFileSync(caFile) }) };
    return new Api(url, credentials, options);
  }

  /** Owner and name, as the URL has them. */
  get place(): { owner: string; name: string } {
    const [owner = "", name = ""] = this.#base.slice("/api/repos/".length).split("/");
    return { owner: decodeURIComponent(owner), name: decodeURIComponent(name) };
  }

  /** Sends a request, again and again while the network or the server fails.
   * @param path below the repository's; with two slashes at the beginning, below `/api`
   * @param sent called with each number of bytes of a file that has gone out; a negative number takes
   * those of a failed attempt back
   * @returns the JSON of the answer; null: it has none
   * @throws ApiError, and the error of the network */
  async ask<T = null>(
    method: string,
    path: string,
    body?: Body,
    sent: (bytes: number) => void = () => undefined,
  ): Promise<T> {
    for (let tries = 1, waitMs = FIRST_WAIT_MS; ; tries++, waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const header = this.#credentials.header;
      let failure: Error;
      try {
        const answer = await this.#send(method, path, body, header, sent);
        if (answer.status === 401 && (await this.#askUser(header))) continue;
        if (answer.status !== 401) await this.#credentials.approve();
        const value = read<T & { error?: { code: string; message: string } }>(answer);
        if (answer.status < 300 && value?.error === undefined) return value as T;
        failure = toError(answer.status, value?.error, answer.text);
        if (!PASSING.has(answer.status)) throw failure;
      } catch (error) {
        if (error instanceof ApiError && !PASSING.has(error.status)) throw error;
        failure = error as Error;
      }
      if (tries === TRIES) throw failure;
      await sleep(waitMs * (1 + Math.random()) * 0.5);
    }
  }

  /** Ends the connections. */
  close(): void {
    this.#agent.destroy();
  }

  /** @param refused the header that did not do */
  async #askUser(refused: string | null): Promise<boolean> {
    // Another request has asked meanwhile.
    if (this.#credentials.header !== refused) return true;
    this.#asking ??= this.#credentials.ask().finally(() => (this.#asking = null));
    return this.#asking;
  }

  #send(
    method: string,
    path: string,
    body: Body | undefined,
    authorization: string | null,
    sent: (bytes: number) => void,
  ): Promise<Answer> {
    const { protocol, hostname, port } = this.#origin;
    const json = body !== undefined && "json" in body ? JSON.stringify(body.json) : null;
    const headers: http.OutgoingHttpHeaders = { "User-Agent": "git-remote-holdfast", Accept: "application/json" };
    if (authorization !== null) headers["Authorization"] = authorization;
    if (json !== null) headers["Content-Type"] = "application/json";
    if (body !== undefined && "path" in body) {
      headers["Content-Type"] = "application/octet-stream";
      headers["Content-Length"] = body.sizeBytes;
    }
    const target = path.startsWith("//") ? `/api${path.slice(1)}` : this.#base + path;
    return new Promise((resolve, reject) => {
      let sentBytes = 0;
      const fail = (error: Error): void => {
        sent(-sentBytes);
        sentBytes = 0;
        reject(error);
      };
      const { request: open } = protocol === "https:" ? https : http;
      const settings = { hostname, port, method, path: target, headers, agent: this.#agent, timeout: SILENCE_MS };
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
      if (body === undefined || !("path" in body)) return void request.end(json ?? undefined);
      const file = createReadStream(body.path, { highWaterMark: 256 * 1024 });
      file.on("error", (error) => request.destroy(error));
      file.on("data", (piece) => {
        sentBytes += piece.length;
        sent(piece.length);
      });
      file.pipe(request);
    });
  }
}

function read<T>({ text }: Answer): T | null {
  try {
    return text.trim() === "" ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

function toError(status: number, error: { code: string; message: string } | undefined, text: string): ApiError {
  if (error !== undefined) return new ApiError(status, error.code, error.message);
  const [line = ""] = text
    .replaceAll(/<[^>]*>/g, " ")
    .trim()
    .split("\n");
  return new ApiError(status, null, `the server answered ${status}${line === "" ? "" : `: ${line.slice(0, 200)}`}`);
}
