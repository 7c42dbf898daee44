import type { Right } from "../../base/access/caller.ts";
import { GitError } from "../../base/format/errors.ts";
import { isOwnerName, type RepositoryName } from "../../base/format/repository-name.ts";
import { newClient, type OwnerClient, type RepositoryClient } from "../../contract/calls.ts";
import type { EventSource, Listener, OwnerListener } from "../shared/deployment.ts";
import { type OwnerRpc, type Remote, LISTEN_REQUEST } from "../../contract/objects.ts";
import type { EventPage, EventQuery } from "../../contract/events.ts";
import type { HostRequest } from "./host-request.ts";
import { demandRight } from "./services.ts";
import type { Env } from "../../contract/env.ts";

/** Listens to a repository for a request that its caller may read.
 * @throws GitError @see Deployment.listen */
export async function openListener(request: HostRequest, name: RepositoryName | null): Promise<Listener> {
  const socket = await (await request.open(name, "read")).listen();
  if (socket === null) throw new GitError("not-found", { subject: "repository" });
  return new RepositoryListener(socket, async (needed) => {
    // A new request, since the caller's right may have ended.
    const repository = await request.again().open(name, needed);
    return repository.client(() => undefined);
  });
}

/** Learns of new events in a log over a WebSocket to the log's object. */
class SocketListener<Page extends EventPage> implements EventSource<Page> {
  readonly #socket: WebSocket;
  readonly #read: (query: EventQuery) => Promise<Page>;
  #isAwake = true;
  #wake: () => void = () => undefined;

  /** @param read reads the log */
  constructor(socket: WebSocket, read: (query: EventQuery) => Promise<Page>) {
    this.#socket = socket;
    this.#read = read;
    const wake = (): void => {
      this.#isAwake = true;
      this.#wake();
    };
    socket.addEventListener("message", wake);
    // The object has ended after its last event: reading the log shows it.
    socket.addEventListener("close", wake);
    socket.accept();
  }

  get isAwake(): boolean {
    return this.#isAwake;
  }

  events(query: EventQuery): Promise<Page> {
    this.rest();
    return this.#read(query);
  }

  /** Marks the listener as asleep. Must precede each read, so that events during the read wake it
   * again. */
  protected rest(): void {
    this.#isAwake = false;
  }

  async wait(ms: number): Promise<void> {
    if (this.#isAwake) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  close(): void {
    this.#socket.close();
  }
}

class RepositoryListener extends SocketListener<EventPage> implements Listener {
  readonly #open: Listener["open"];

  constructor(socket: WebSocket, open: Listener["open"]) {
    super(socket, async (query) => (await open("read")).events(query));
    this.#open = open;
  }

  open(needed: Right): Promise<RepositoryClient> {
    this.rest();
    return this.#open(needed);
  }
}

/** Opens an owner for a request whose caller has the needed right for everything of the owner.
 * @throws GitError "invalid", and as `Deployment.demand` */
export async function openOwner(request: HostRequest, owner: string, needed: Right): Promise<OwnerClient> {
  if (!isOwnerName(owner)) throw new GitError("invalid", { what: "owner", field: "owner", actual: owner });
  const right = await demandRight(request, needed, owner);
  const stub = ownerOf(request.env, owner);
  return newClient<OwnerClient>((name, argument) => stub.call(name, argument, right));
}

/** Listens to an owner for a request whose caller may read everything of the owner.
 * @throws GitError "unavailable" when there are too many listeners, and as `openOwner` */
export async function openOwnerListener(request: HostRequest, owner: string): Promise<OwnerListener> {
  await openOwner(request, owner, "read");
  const { url, headers } = LISTEN_REQUEST;
  const { webSocket } = await ownerOf(request.env, owner).fetch(new Request(url, { headers }));
  if (webSocket === null)
    throw new GitError("unavailable", { what: "event stream", reason: "too many listen to this owner" });
  // Each read is a request of its own, since the caller's right may have ended.
  return new SocketListener(webSocket, async (query) =>
    (await openOwner(request.again(), owner, "read")).events(query),
  );
}

/** The object of an owner. The name's case does not matter. */
function ownerOf(env: Env, owner: string): Remote<OwnerRpc> {
  return env.OWNERS.getByName(owner.toLowerCase()) as unknown as Remote<OwnerRpc>;
}
