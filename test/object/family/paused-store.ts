import type { ChunkStore } from "../../../src/base/chunks/chunk-store.ts";

/** A store whose calls wait before their effect. */
export function pausedStore(inner: ChunkStore, pause: () => Promise<void>): ChunkStore {
  return new Proxy(inner, {
    get(target, name: keyof ChunkStore) {
      if (name === "list") {
        return async function* (...args: Parameters<ChunkStore["list"]>): AsyncGenerator<string> {
          await pause();
          yield* target.list(...args);
        };
      }
      const call = target[name] as (...args: unknown[]) => unknown;
      return async (...args: unknown[]): Promise<unknown> => {
        await pause();
        return call.apply(target, args);
      };
    },
  });
}
