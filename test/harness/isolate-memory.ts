/** The memory of one isolate, as V8 counts it: what it has on its heap, and buffers outside of it.
 * The memories of WebAssembly are not in it.
 * @see https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-getHeapUsage */
import { setTimeout as wait } from "node:timers/promises";
import type { Server } from "./server.ts";
import { Inspector, listTargets } from "../../scripts/bench/profile/inspector.ts";

/** How often it is looked at; between two slices of work, at the soonest. */
const INTERVAL_MS = 20;

/** Looks at an isolate's memory again and again. */
export class IsolateWatch {
  readonly #inspector: Inspector;
  #peakBytes = 0;
  #isEnded = false;
  #looking: Promise<void> = Promise.resolve();

  private constructor(inspector: Inspector) {
    this.#inspector = inspector;
  }

  /** @param port of the inspector
   * @param worker the Worker's name
   * @throws Error if there is no such isolate */
  static async begin(port: number, worker: string): Promise<IsolateWatch> {
    const target = (await listTargets(port)).find(({ id }) => id === `core:user:${worker}`);
    if (target === undefined) throw new Error(`the inspector knows no Worker ${worker}`);
    const watch = new IsolateWatch(await Inspector.connect(target.webSocketDebuggerUrl));
    watch.#looking = watch.#look();
    return watch;
  }

  /** Ends it. @returns the most that was seen, bytes */
  async end(): Promise<number> {
    this.#isEnded = true;
    await this.#looking;
    this.#inspector.close();
    return this.#peakBytes;
  }

  async #look(): Promise<void> {
    while (!this.#isEnded) {
      // What nobody refers to any more is not what an isolate needs; where memory is bounded, V8
      // frees it in time.
      await this.#inspector.call("HeapProfiler.collectGarbage");
      const usage = (await this.#inspector.call("Runtime.getHeapUsage")) as Record<string, number>;
      this.#peakBytes = Math.max(this.#peakBytes, usage["usedSize"]! + usage["backingStorageSize"]!);
      await wait(INTERVAL_MS);
    }
  }
}

/** How far the server's memory rises at the most while something is done, and what its isolate has
 * at the most without WebAssembly, with its garbage collected all the time; bytes. */
export async function measureRise(
  server: Server,
  inspectorPort: number,
  act: () => Promise<unknown>,
): Promise<{ processBytes: number; isolateBytes: number }> {
  const watch = await IsolateWatch.begin(inspectorPort, "holdfast");
  const before = server.readUsage().memoryBytes;
  let most = before;
  let isDone = false;
  const done = act().finally(() => (isDone = true));
  while (!isDone) {
    most = Math.max(most, server.readUsage().memoryBytes);
    await wait(INTERVAL_MS);
  }
  await done;
  return { processBytes: most - before, isolateBytes: await watch.end() };
}
