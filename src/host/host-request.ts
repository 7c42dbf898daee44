import { nameOf, type Asker, type Right } from "../access/caller.ts";
import { decodeText } from "../format/byte-string.ts";
import { GitError } from "../format/errors.ts";
import type { RepositoryName } from "../format/repository-name.ts";
import { NamedRepository } from "./directory.ts";
import type { Env } from "./env.ts";
import { type EventOrigin, printEvent } from "./event-log.ts";
import { identify } from "./identify.ts";
import { Timings } from "./timings.ts";

/** Characters of a path that are logged. */
const MAX_PATH = 500;

/** One request as the Worker goes through it. */
export class HostRequest {
  readonly env: Env;
  readonly timings = new Timings();
  /** Names it, in its response and in every event of it. */
  readonly id: string;
  readonly #request: Request;
  #asker: Promise<Asker> | null = null;
  #who: string | null = null;
  #repository: NamedRepository | null = null;

  constructor(request: Request, env: Env) {
    this.env = env;
    this.id = request.headers.get("CF-Ray") ?? crypto.randomUUID();
    this.#request = request;
  }

  /** Who asks; found out once, where it first matters.
   * @throws GitError @see identify */
  asker(): Promise<Asker> {
    this.#asker ??= this.timings.time("access", async () => {
      const caller = await identify(this.#request, this.env);
      const who = nameOf(caller);
      this.#who = who === null ? null : decodeText(who);
      return { requestId: this.id, caller };
    });
    return this.#asker;
  }

  /** The repository of a name, for this request, if it may do so much there.
   * @throws GitError "not-found" when the name is none (null), and as `authorise` */
  async open(name: RepositoryName | null, needed: Right): Promise<NamedRepository> {
    if (name === null) throw new GitError("not-found", { what: "repository" });
    this.#repository = new NamedRepository(this.env, name, needed, await this.asker(), this.timings);
    await this.#repository.admit();
    return this.#repository;
  }

  /** What an event of this request says of it. */
  get origin(): EventOrigin {
    const repository = this.#repository?.id ?? null;
    return { request: this.id, ...(repository !== null && { repository }) };
  }

  /** Logs the request once it is answered. What follows the path may hold anything, and is not logged. */
  log(status: number): void {
    const { phases, totalMs } = this.timings.read();
    const path = new URL(this.#request.url).pathname.slice(0, MAX_PATH);
    const { method } = this.#request;
    printEvent({ event: "request", method, path, who: this.#who, status, ms: totalMs, phases }, this.origin);
  }
}
