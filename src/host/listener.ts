import type { Right } from "../access/caller.ts";
import { GitError } from "../format/errors.ts";
import type { RepositoryName } from "../format/repository-name.ts";
import type { RepositoryClient } from "../repository/calls.ts";
import type { Listener } from "../repository/deployment.ts";
import type { HostRequest } from "./host-request.ts";

/** Listens to a repository for a request that its caller may read.
 * @throws GitError @see Deployment.listen */
export async function openListener(request: HostRequest, name: RepositoryName | null): Promise<Listener> {
  const socket = await (await request.open(name, "read")).listen();
  if (socket === null) throw new GitError("not-found", { what: "repository" });
  return new SocketListener(request, name, socket);
}

class SocketListener implements Listener {
  readonly #request: HostRequest;
  readonly #name: RepositoryName | null;
  readonly #socket: WebSocket;
  #isAwake = true;
  #wake: () => void = () => undefined;

  constructor(request: HostRequest, name: RepositoryName | null, socket: WebSocket) {
    this.#request = request;
    this.#name = name;
    this.#socket = socket;
    const wake = (): void => {
      this.#isAwake = true;
      this.#wake();
    };
    socket.addEventListener("message", wake);
    // The object has ended, with what it had to say: the log tells.
    socket.addEventListener("close", wake);
    socket.accept();
  }

  get isAwake(): boolean {
    return this.#isAwake;
  }

  async events(query: Parameters<Listener["events"]>[0]): ReturnType<Listener["events"]> {
    return (await this.open("read")).events(query);
  }

  async open(needed: Right): Promise<RepositoryClient> {
    // First: what happens while it reads wakes it again.
    this.#isAwake = false;
    // A request of its own, since the caller's right may have ended.
    const repository = await this.#request.again().open(this.#name, needed);
    return repository.client(() => undefined);
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
