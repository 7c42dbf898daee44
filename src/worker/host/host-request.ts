import { nameOf, type Asker, type Right } from "../../base/access/caller.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import type { FailedRequest } from "../../base/format/failure-log.ts";
import type { RepositoryName } from "../../base/format/repository-name.ts";
import { NamedRepository } from "./directory.ts";
import type { Env } from "../../contract/env.ts";
import { type EventOrigin, printEvent } from "../../contract/event-log.ts";
import { identify } from "./identify.ts";
import { Timings } from "./timings.ts";

/** Maximum length of a logged path, in characters. */
const MAX_PATH = 500;

/** One request on its way through the Worker. */
export class HostRequest {
  readonly env: Env;
  readonly timings = new Timings();
  /** Identifies the request in its response and in all its events. */
  readonly id: string;
  readonly request: Request;
  #identify = identify;
  #asker: Promise<Asker> | null = null;
  #who: string | null = null;
  #repository: NamedRepository | null = null;

  constructor(request: Request, env: Env) {
    this.env = env;
    this.id = request.headers.get("CF-Ray") ?? crypto.randomUUID();
    this.request = request;
  }

  /** Replaces `identify`. Must be called before the caller is needed. */
  identifyBy(how: typeof identify): void {
    if (this.#asker !== null) throw new RangeError("the caller has been identified");
    this.#identify = how;
  }

  /** Copies the request; the copy identifies its caller anew. */
  again(): HostRequest {
    const next = new HostRequest(this.request, this.env);
    next.identifyBy(this.#identify);
    return next;
  }

  /** The caller, identified once, when first needed.
   * @throws GitError
   * @see identify */
  asker(): Promise<Asker> {
    this.#asker ??= this.timings.time("access", async () => {
      const caller = await this.#identify(this.request, this.env);
      const who = nameOf(caller);
      this.#who = who === null ? null : decodeText(who);
      return { requestId: this.id, caller };
    });
    return this.#asker;
  }

  /** Opens the named repository for this request, if the caller has the needed right.
   * @throws GitError "not-found" for an invalid name (null), and as `authorise` */
  async open(name: RepositoryName | null, needed: Right): Promise<NamedRepository> {
    if (name === null) throw new GitError("not-found", { subject: "repository" });
    this.#repository = new NamedRepository(this.env, name, needed, await this.asker(), this.timings);
    await this.#repository.admit();
    return this.#repository;
  }

  /** Opens another repository. @throws GitError as `open` */
  async openAlso(name: RepositoryName, needed: Right): Promise<NamedRepository> {
    const repository = new NamedRepository(this.env, name, needed, await this.asker(), this.timings);
    await repository.admit();
    return repository;
  }

  /** The origin that this request's events record. */
  get origin(): EventOrigin {
    const repository = this.#repository?.id ?? null;
    return { request: this.id, ...(repository !== null && { repository }) };
  }

  /** The facts that the log records if the request fails. */
  get failed(): FailedRequest {
    const repository = this.#repository?.sought ?? null;
    return { request: this.id, method: this.request.method, path: this.#path, who: this.#who, repository };
  }

  get #path(): string {
    return new URL(this.request.url).pathname.slice(0, MAX_PATH);
  }

  /** Logs the answered request, without its query, which may contain anything. */
  log(status: number): void {
    const { phases, totalMs } = this.timings.read();
    const { method } = this.request;
    printEvent(
      { event: "request", method, path: this.#path, who: this.#who, status, ms: totalMs, phases },
      this.origin,
    );
  }
}
