import childProcess, { type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

/** The runtime's argument with the address; this module replaces it. */
const ENTRY_ADDRESS = "--socket-addr=entry=";

/** The descriptor under which the runtime finds the socket. Miniflare uses those below. */
const RUNTIME_FD = 4;

/** The thread's message: that it listens, or why it cannot. */
type Opened = { readonly fd: number; readonly port: number } | { readonly code: string; readonly message: string };

/** The socket that clients connect to. This process holds it and passes it to each runtime that it
 * starts. Clients that connect between two runtimes wait for the next one. Clients that connect
 * after the last one get an answer that says so.
 *
 * A runtime that is shutting down accepts no connections, but leaves them waiting until it has
 * ended. */
export class HeldSocket {
  readonly port: number;
  /** The listening thread waits on this while a runtime accepts. */
  readonly #gate: Int32Array;

  private constructor(port: number, gate: Int32Array) {
    this.port = port;
    this.#gate = gate;
  }

  /** Listens without accepting, and has the runtime started with the socket.
   * @param port 0: any free one
   * @throws Error with the system's `code` if it cannot listen */
  static async open(ip: string, port: number): Promise<HeldSocket> {
    const gate = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    // A thread whose event loop is blocked: Node has no other way to listen without accepting.
    const thread = new Worker(join(import.meta.dirname, "socket-thread.mjs"), {
      workerData: { ip, port, gate, isLent: CAN_LEND },
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
    });
    thread.unref();
    const [opened] = (await once(thread, "message")) as [Opened];
    if ("code" in opened) throw Object.assign(new Error(opened.message), { code: opened.code });
    if (CAN_LEND) lend(opened.fd);
    return new HeldSocket(opened.port, gate);
  }

  /** From now on answers all connections that the server is shutting down (503). The runtime must
   * not accept any more. */
  refuse(): void {
    Atomics.store(this.#gate, 0, 1);
    Atomics.notify(this.#gate, 0);
  }
}

/** Windows cannot pass sockets on; there the runtime opens its own. */
const CAN_LEND = process.platform !== "win32";

/** Starts every runtime with the socket in place of an address. */
function lend(fd: number): void {
  const { spawn } = childProcess;
  const spawnLending = (command: string, args: readonly string[], options: SpawnOptions) => {
    const at = args.findIndex((argument) => argument.startsWith(ENTRY_ADDRESS));
    if (at < 0) return spawn(command, args, options);
    const stdio = [...(options.stdio as "pipe"[])];
    if (stdio.length !== RUNTIME_FD) throw new Error(`the runtime has descriptor ${RUNTIME_FD} for something else`);
    const lent = args.with(at, `--socket-fd=entry=${RUNTIME_FD}`);
    return spawn(command, lent, { ...options, stdio: [...stdio, fd] });
  };
  childProcess.spawn = spawnLending as typeof spawn;
}
