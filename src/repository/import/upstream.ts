import { GitError, isGitError } from "../../format/errors.ts";
import { BODY_WAIT_MS } from "../../format/limits.ts";
import { ByteReader } from "../../format/pkt-line.ts";
import { PacedBody } from "../pacing/paced-body.ts";
import type { ImportAccess } from "../state/outside.ts";
import { checkAddress } from "./address.ts";

/** Redirects that are followed to find a repository. */
const MAX_REDIRECTS = 5;

/** How long an upstream may think before its answer begins. */
const ANSWER_WAIT_MS = 60_000;

/** What git asks first, below a repository's address. */
const DISCOVERY = "/info/refs?service=git-upload-pack";

/** How an upstream is asked. */
export interface UpstreamAccess {
  readonly url: string;
  /** The header `Authorization`, for the origin of `url` only; null: none. */
  readonly authorization: string | null;
  readonly outside: ImportAccess;
  /** Ends whatever is under way, with its reason as the error. */
  readonly signal: AbortSignal;
}

/** An answer that is being read. */
export interface UpstreamAnswer {
  /** Fails with GitErrors that name the upstream. */
  readonly packets: ByteReader;
  /** Requires this many bytes in each `BODY_WAIT_MS` of waiting; at first, one. */
  demandPace(minBytes: () => number): void;
  /** Gives up the rest. */
  cancel(): Promise<void>;
}

/** Another host's repository, over HTTP. Redirects are followed only where git follows them, when the
 * repository is looked for, and each is checked as the first address was. */
export class Upstream {
  readonly #access: UpstreamAccess;
  /** The only origin that gets the credential. */
  readonly #origin: string;
  /** Where it is, without a slash at its end. */
  #base: string;

  /** @throws GitError "invalid" when its address may not be asked */
  constructor(access: UpstreamAccess) {
    const url = checkAddress(access.url, access.outside.allowsPrivate);
    this.#access = access;
    this.#origin = url.origin;
    this.#base = url.href.replace(/\/+$/, "");
  }

  /** Asks for what it offers.
   * @throws GitError which says what it answered instead */
  async discover(): Promise<UpstreamAnswer> {
    for (let redirects = 0; ; redirects++) {
      const response = await this.#send(this.#base + DISCOVERY, { headers: { "Git-Protocol": "version=2" } });
      const location = response.headers.get("Location");
      if (response.status < 300 || response.status >= 400 || location === null)
        return this.#read(response, "application/x-git-upload-pack-advertisement");
      await response.body?.cancel();
      if (redirects === MAX_REDIRECTS) throw failed(`it redirected more than ${MAX_REDIRECTS} times`);
      this.#base = this.#follow(location);
    }
  }

  /** Sends a request of the protocol.
   * @param body pkt-lines
   * @throws GitError as `discover` */
  async ask(body: Uint8Array, isV2: boolean): Promise<UpstreamAnswer> {
    const headers = {
      "Content-Type": "application/x-git-upload-pack-request",
      Accept: "application/x-git-upload-pack-result",
      ...(isV2 && { "Git-Protocol": "version=2" }),
    };
    const response = await this.#send(`${this.#base}/git-upload-pack`, { method: "POST", headers, body });
    return this.#read(response, "application/x-git-upload-pack-result");
  }

  /** Where a redirect of the first question leads. */
  #follow(location: string): string {
    const target = URL.parse(location, this.#base + DISCOVERY)?.href ?? "";
    if (!target.endsWith(DISCOVERY)) throw failed("it redirected to something that is no repository");
    const base = target.slice(0, -DISCOVERY.length);
    const { protocol } = checkAddress(base, this.#access.outside.allowsPrivate);
    if (protocol === "http:" && this.#base.startsWith("https:")) throw failed("it redirected from https: to http:");
    return base;
  }

  async #send(
    url: string,
    { headers, ...rest }: Omit<RequestInit, "headers"> & { headers: Record<string, string> },
  ): Promise<Response> {
    const { authorization, signal } = this.#access;
    const isTrusted = authorization !== null && new URL(url).origin === this.#origin;
    const all = { "User-Agent": "git/holdfast", ...headers, ...(isTrusted && { Authorization: authorization }) };
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), ANSWER_WAIT_MS);
    const either = AbortSignal.any([signal, late.signal]);
    try {
      return await this.#access.outside.fetch(url, { ...rest, headers: all, redirect: "manual", signal: either });
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw failed(
        late.signal.aborted ? `it did not answer in ${ANSWER_WAIT_MS / 1_000} seconds` : "it cannot be reached",
        cause,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async #read(response: Response, wanted: string): Promise<UpstreamAnswer> {
    const { status, body } = response;
    const type = (response.headers.get("Content-Type") ?? "nothing").split(";")[0]!;
    if (status === 200 && type === wanted && body !== null) return openAnswer(body, this.#access.signal);
    await body?.cancel();
    if (status === 401 || status === 403) {
      const reason = `it answered ${status}; send \`authorization\`, the header that it wants`;
      throw new GitError("unauthenticated", { what: "credential for the upstream", reason });
    }
    if (status === 404 || status === 410)
      throw new GitError("not-found", { what: "upstream repository", reason: `it answered ${status}` });
    if (status !== 200) throw failed(`it answered ${status}`);
    const reason = `it answered with ${type.slice(0, 100)}, not as a Git server does; is this the address to clone from?`;
    throw new GitError("unsupported", { what: "the upstream", reason });
  }
}

function openAnswer(stream: ReadableStream<Uint8Array>, signal: AbortSignal): UpstreamAnswer {
  let minBytes = (): number => 1;
  // While a server counts objects, it sends a few bytes every five seconds.
  const body = new PacedBody(stream, () => minBytes(), 1);
  return {
    packets: new ByteReader(async () => {
      try {
        return await body.read();
      } catch (cause) {
        if (signal.aborted) throw signal.reason;
        const isSlow = isGitError(cause, "timeout");
        throw failed(isSlow ? `it sent too little in ${BODY_WAIT_MS / 1_000} seconds` : "its answer was cut", cause);
      }
    }),
    demandPace: (wanted) => void (minBytes = wanted),
    cancel: () => body.cancel().catch(() => undefined),
  };
}

/** The error for an upstream that may do better next time. */
export function failed(reason: string, cause?: unknown): GitError {
  return new GitError("unavailable", { what: "upstream", reason }, { cause });
}
