import childProcess, { type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

/** What the runtime is told to listen at, before it is told otherwise here. */
const ENTRY_ADDRESS = "--socket-addr=entry=";

/** The descriptor under which the runtime finds the socket: Miniflare has given it those below. */
const RUNTIME_FD = 4;

/** What the thread tells as soon as it listens, or cannot. */
type Opened = { readonly fd: number; readonly port: number } | { readonly code: string; readonly message: string };

/** The socket that clients connect to. This process holds it, and lends it to each runtime that it starts: who connects while there is
 * none waits for the next one, and who connects when there is none to come is told so.
 *
 * A runtime that was told to end accepts nobody, but would leave whoever connects waiting until it has ended. */
export class HeldSocket {
  readonly port: number;
  /** What the thread that listens waits at, while a runtime accepts. */
  readonly #gate: Int32Array;

  private constructor(port: number, gate: Int32Array) {
    this.port = port;
    this.#gate = gate;
  }

  /** Listens, without accepting, and has the runtime started with the socket.
   * @param port 0: any that is free
   * @throws Error with the system's `code` if it cannot listen */
  static async open(ip: string, port: number): Promise<HeldSocket> {
    const gate = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    // A loop of its own, which stands still: Node has no other way to listen and not accept.
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

  /** Tells whoever connects from now on that the server ends (503). The runtime must not accept any more. */
  refuse(): void {
    Atomics.store(this.#gate, 0, 1);
    Atomics.notify(this.#gate, 0);
  }
}

/** Windows lends no sockets; there the runtime opens its own. */
const CAN_LEND = process.platform !== "win32";

/** Has every runtime started with the socket in place of an address. */
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
