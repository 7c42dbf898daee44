import { GitError, isGitError } from "../../base/format/errors.ts";
import { BODY_WAIT_MS } from "../../base/format/limits.ts";
import { ByteReader } from "../../base/format/pkt-line.ts";
import { PacedBody } from "../../base/pacing/paced-body.ts";
import type { SizedStream } from "../../base/chunks/chunk-store.ts";
import type { ImportAccess } from "../state/outside.ts";
import { checkAddress } from "./address.ts";

/** Maximum number of redirects that are followed. */
export const MAX_REDIRECTS = 5;

/** Timeout for the beginning of a server's answer, once it has read the request, and for its
 * reading of each piece of the request. */
const ANSWER_WAIT_MS = 60_000;

/** The role of another host's repository, which errors name. */
export type RemoteRole = "upstream" | "target";

/** Access to another host's repository. */
interface ServerAccess {
  readonly role: RemoteRole;
  readonly service: "git-upload-pack" | "git-receive-pack";
  readonly url: string;
  /** The header `Authorization`, only for the origin of `url`; null: none. */
  readonly authorization: string | null;
  readonly outside: ImportAccess;
  /** Aborts all requests in progress, with its reason as the error. */
  readonly signal: AbortSignal;
}

/** An answer that is being read. */
export interface RemoteAnswer {
  readonly role: RemoteRole;
  /** Fails with GitErrors that name the host by its role. */
  readonly packets: ByteReader;
  /** Requires this many bytes in each `BODY_WAIT_MS` of waiting; initially, one. */
  demandPace(minBytes: () => number): void;
  /** Cancels the rest. */
  cancel(): Promise<void>;
}

/** Another host's repository, over HTTP. Redirects are followed only where git follows them, in the
 * first request, and each is checked as the first address was. */
export class GitServer {
  readonly #access: ServerAccess;
  /** The path of git's first request, below a repository's address. */
  readonly #discovery: string;
  /** The only origin that gets the credential. */
  readonly #origin: string;
  /** The repository's URL, without a slash at its end. */
  #base: string;

  /** @throws GitError "invalid" when its address may not be requested */
  constructor(access: ServerAccess) {
    const url = checkAddress(access.url, access.outside.allowsPrivate);
    this.#access = access;
    this.#discovery = `/info/refs?service=${access.service}`;
    this.#origin = url.origin;
    this.#base = url.href.replace(/\/+$/, "");
  }

  /** Requests the server's advertisement, by protocol version 2 if that is wanted and supported.
   * @throws GitError that describes any other answer */
  async discover(wantsV2: boolean): Promise<RemoteAnswer> {
    for (let redirects = 0; ; redirects++) {
      const response = await this.send(this.#base + this.#discovery, versionOf(wantsV2));
      const location = response.headers.get("Location");
      if (response.status < 300 || response.status >= 400 || location === null)
        return this.#read(response, `application/x-${this.#access.service}-advertisement`);
      await response.body?.cancel();
      if (redirects === MAX_REDIRECTS) throw this.#failed(`it redirected more than ${MAX_REDIRECTS} times`);
      this.#base = this.#follow(location);
    }
  }

  /** Sends a request of the protocol.
   * @param body pkt-lines, and the data after them; a stream is sent as it is read
   * @throws GitError as `discover`, "too-large" when the server refuses the size of the body */
  async ask(body: Uint8Array | ReadableStream<Uint8Array>, isV2: boolean): Promise<RemoteAnswer> {
    const { service } = this.#access;
    const headers = {
      "Content-Type": `application/x-${service}-request`,
      Accept: `application/x-${service}-result`,
      ...versionOf(isV2),
    };
    const response = await this.send(`${this.#base}/${service}`, headers, body);
    return this.#read(response, `application/x-${service}-result`);
  }

  /** The repository's URL, without a slash at its end; final once `discover` has followed
   * redirects. */
  get base(): string {
    return this.#base;
  }

  /** The repository's role here. */
  get role(): RemoteRole {
    return this.#access.role;
  }

  /** Whether addresses in private networks may be requested. */
  get allowsPrivate(): boolean {
    return this.#access.outside.allowsPrivate;
  }

  /** Sends a request unchanged, and leaves its answer to the caller. Headers of the request take
   * precedence over the credential, which only the first address's origin gets.
   * @param body null: none; for a sized stream, the length is sent, too
   * @throws GitError "unavailable" when the host cannot be reached */
  async send(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array | ReadableStream<Uint8Array> | SizedStream | null = null,
    method: "POST" | "PUT" = "POST",
  ): Promise<Response> {
    const { authorization, signal, outside } = this.#access;
    const isTrusted = authorization !== null && new URL(url).origin === this.#origin;
    const patience = new Patience();
    try {
      const all = new Headers({ "User-Agent": "git/holdfast", ...(isTrusted && { Authorization: authorization }) });
      for (const [name, value] of Object.entries(headers)) all.set(name, value);
      return await outside.fetch(url, {
        headers: all,
        redirect: "manual",
        signal: AbortSignal.any([signal, patience.end]),
        ...(body !== null && { method, body: body instanceof Uint8Array ? body : patience.follow(body) }),
      });
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      const isLate = patience.end.aborted;
      throw this.#failed(
        isLate ? `it did not answer in ${ANSWER_WAIT_MS / 1_000} seconds` : "it cannot be reached",
        cause,
      );
    } finally {
      patience.stop();
    }
  }

  /** Follows a redirect of the first request. */
  #follow(location: string): string {
    const target = URL.parse(location, this.#base + this.#discovery)?.href ?? "";
    if (!target.endsWith(this.#discovery)) throw this.#failed("it redirected to something that is no repository");
    const base = target.slice(0, -this.#discovery.length);
    const { protocol } = checkAddress(base, this.#access.outside.allowsPrivate);
    if (protocol === "http:" && this.#base.startsWith("https:"))
      throw this.#failed("it redirected from https: to http:");
    return base;
  }

  async #read(response: Response, wanted: string): Promise<RemoteAnswer> {
    const { status, body } = response;
    const { role, signal } = this.#access;
    const type = (response.headers.get("Content-Type") ?? "nothing").split(";")[0]!;
    if (status === 200 && type === wanted && body !== null) return openAnswer(role, body, signal);
    await body?.cancel();
    if (status === 401 || status === 403) {
      const reason = `it answered ${status}; send \`authorization\`, the header that it wants`;
      throw new GitError("unauthenticated", { what: `credential for the ${role}`, reason });
    }
    if (status === 404 || status === 410)
      throw new GitError("not-found", { what: `${role} repository`, reason: `it answered ${status}` });
    if (status === 413)
      throw new GitError("too-large", { what: "the request", limit: `the ${role}`, reason: "it answered 413" });
    if (status !== 200) throw this.#failed(`it answered ${status}`);
    const reason = `it answered with ${type.slice(0, 100)}, not as a Git server does; is this the address to clone from?`;
    throw new GitError("unsupported", { what: `the ${role}`, reason });
  }

  #failed(reason: string, cause?: unknown): GitError {
    return failed(this.#access.role, reason, cause);
  }
}

/** Timeout for an answer, renewed after each piece of the body that the server reads. */
class Patience {
  readonly #late = new AbortController();
  #timer = this.#start();

  /** Aborted at the timeout. */
  get end(): AbortSignal {
    return this.#late.signal;
  }

  follow(body: ReadableStream<Uint8Array> | SizedStream): ReadableStream<Uint8Array> {
    if ("stream" in body) return this.follow(body.stream).pipeThrough(new FixedLengthStream(body.sizeBytes));
    const renew = (): void => {
      this.stop();
      this.#timer = this.#start();
    };
    return body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (piece, controller) => {
          renew();
          controller.enqueue(piece);
        },
        flush: renew,
      }),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#late.abort(), ANSWER_WAIT_MS);
  }
}

function versionOf(isV2: boolean): Readonly<Record<string, string>> {
  return isV2 ? { "Git-Protocol": "version=2" } : {};
}

function openAnswer(role: RemoteRole, stream: ReadableStream<Uint8Array>, signal: AbortSignal): RemoteAnswer {
  let minBytes = (): number => 1;
  // While a server counts objects, it sends a few bytes every five seconds.
  const body = new PacedBody(stream, () => minBytes(), 1);
  return {
    role,
    packets: new ByteReader(async () => {
      try {
        return await body.read();
      } catch (cause) {
        if (signal.aborted) throw signal.reason;
        const isSlow = isGitError(cause, "timeout");
        throw failed(
          role,
          isSlow ? `it sent too little in ${BODY_WAIT_MS / 1_000} seconds` : "its answer was cut",
          cause,
        );
      }
    }),
    demandPace: (wanted) => void (minBytes = wanted),
    cancel: () => body.cancel().catch(() => undefined),
  };
}

/** The error for a failure of another host that may pass. */
export function failed(role: RemoteRole, reason: string, cause?: unknown): GitError {
  return new GitError("unavailable", { what: role, reason }, { cause });
}
