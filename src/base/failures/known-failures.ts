import { whenFull } from "./full-storage.ts";
import { whenDamaged } from "./damaged-data.ts";
import { whenNewer } from "./newer-data.ts";

/** Makes a GitError of what storage failed with, where the cause is known: it is full, damaged, or
 * a newer release wrote it. Such errors come from an object that was reset, by their message alone.
 * @returns any other value unchanged */
export function explainFailure(thrown: unknown): unknown {
  return whenFull(thrown) ?? whenNewer(thrown) ?? whenDamaged(thrown) ?? thrown;
}
