/** The memory of one isolate as V8 counts it: its heap, and buffers outside of it, without the
 * memories of WebAssembly.
 * @see https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-getHeapUsage */
import { setTimeout as wait } from "node:timers/promises";
import { Inspector, listTargets } from "./inspector.ts";
import type { Server } from "./server.ts";

/** Interval of the samples, which are taken only between two slices of work. */
const INTERVAL_MS = 20;

/** Samples an isolate's memory. */
export class IsolateWatch {
  readonly #inspector: Inspector;
  readonly #collects: boolean;
  #peakBytes = 0;
  #isEnded = false;
  #looking: Promise<void> = Promise.resolve();

  private constructor(inspector: Inspector, collects: boolean) {
    this.#inspector = inspector;
    this.#collects = collects;
  }

  /** @param port of the inspector
   * @param worker the Worker's name
   * @param collects whether garbage is collected before each sample: then what nobody refers to is
   * not counted
   * @throws Error if there is no such isolate */
  static async begin(port: number, worker: string, collects = true): Promise<IsolateWatch> {
    const target = (await listTargets(port)).find(({ id }) => id === `core:user:${worker}`);
    if (target === undefined) throw new Error(`the inspector knows no Worker ${worker}`);
    const watch = new IsolateWatch(await Inspector.connect(target.webSocketDebuggerUrl), collects);
    watch.#looking = watch.#look();
    return watch;
  }

  /** Ends the sampling.
   * @returns the largest sample, bytes */
  async end(): Promise<number> {
    this.#isEnded = true;
    await this.#looking;
    this.#inspector.close();
    return this.#peakBytes;
  }

  async #look(): Promise<void> {
    while (!this.#isEnded) {
      // Unreferenced memory is not counted as needed: under a memory limit, V8 frees it in time.
      // Sent together, so that no work of the isolate comes between the two.
      const [, answer] = await Promise.all([
        this.#collects ? this.#inspector.call("HeapProfiler.collectGarbage") : null,
        this.#inspector.call("Runtime.getHeapUsage"),
      ]);
      const usage = answer as Record<string, number>;
      this.#peakBytes = Math.max(this.#peakBytes, usage["usedSize"]! + usage["backingStorageSize"]!);
      await wait(INTERVAL_MS);
    }
  }
}

/** Measures the largest rise of the server's memory during some work, and the largest memory of its
 * isolate without WebAssembly, with garbage collected all the time; bytes. */
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
