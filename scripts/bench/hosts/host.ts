/** A Git host that is measured. */
import type { RepositoryEvent } from "../../../src/repository/state/repository-event.ts";
import { git } from "../../../test/harness/git.ts";

/** A running Git host. */
export interface Host {
  /** Makes a new, empty repository.
   * @returns its URL */
  makeRepository(): Promise<string>;
  /** CPU seconds of the server so far; NaN where they cannot be read. */
  readCpuSeconds(): number;
  /** Runs the maintenance that the host does from time to time. */
  maintain(url: string): Promise<void>;
  /** Waits until the work that follows a push is done, as far as it is due within seconds. */
  rest(url: string): Promise<void>;
  /** Removes a repository and its pending work. */
  remove(url: string): Promise<void>;
  /** Takes the events that the server has logged since the last call; a native one logs none. */
  takeEvents(): readonly RepositoryEvent[];
  /** Peak resident memory of the server so far; null where it has many processes. */
  readPeakMemoryBytes(): number | null;
  /** Restarts the server with its data; absent where this program did not start it. */
  readonly restart?: () => Promise<void>;
  close(): Promise<void>;
}

/** Pushes every ref of a repository into a new one, and waits until the host has finished.
 * @returns its URL */
export async function pushNew(dir: string, host: Host): Promise<string> {
  const url = await host.makeRepository();
  await git(dir, "push", "-q", "--mirror", url);
  await host.rest(url);
  return url;
}

/** The server's memory since its events were last taken, as far as it reports it. Takes the
 * events. */
export function readMemory(host: Host): Readonly<Record<string, number>> {
  const held = host.takeEvents().flatMap((event) => ("peakBytes" in event ? [event.peakBytes ?? 0] : []));
  const peakBytes = host.readPeakMemoryBytes();
  return {
    ...(held.length === 0 ? {} : { "held MB": Math.max(...held) / 1e6 }),
    ...(peakBytes === null ? {} : { "RSS MB since start": peakBytes / 1e6 }),
  };
}
