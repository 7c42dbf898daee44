/** A Git host that is measured. */
import type { RepositoryEvent } from "../../../src/repository/state/repository-event.ts";
import { git } from "../../../test/harness/git.ts";

/** A running Git host. */
export interface Host {
  /** Readies a new, empty repository.
   * @returns its URL */
  makeRepository(): Promise<string>;
  /** CPU of the server so far; not a number where it cannot be told. */
  readCpuSeconds(): number;
  /** Has a repository put in order, as its host does from time to time. */
  maintain(url: string): Promise<void>;
  /** Waits until what follows a push is done, as far as it is due within seconds. */
  rest(url: string): Promise<void>;
  /** Removes a repository, and with it what is still to be done in it. */
  remove(url: string): Promise<void>;
  /** Takes the events that the server has told of since the last time; a native one tells none. */
  takeEvents(): readonly RepositoryEvent[];
  /** Largest resident memory of the server so far; null where it is many processes. */
  readPeakMemoryBytes(): number | null;
  /** Starts the server anew, with the data it has; absent where that is not this program's to do. */
  readonly restart?: () => Promise<void>;
  close(): Promise<void>;
}

/** Pushes every ref of a repository into a new one, and waits until the host is done with that.
 * @returns its URL */
export async function pushNew(dir: string, host: Host): Promise<string> {
  const url = await host.makeRepository();
  await git(dir, "push", "-q", "--mirror", url);
  await host.rest(url);
  return url;
}

/** What the server held since its events were last taken, as far as it tells: takes them. */
export function readMemory(host: Host): Readonly<Record<string, number>> {
  const held = host.takeEvents().flatMap((event) => ("peakBytes" in event ? [event.peakBytes ?? 0] : []));
  const peakBytes = host.readPeakMemoryBytes();
  return {
    ...(held.length === 0 ? {} : { "held MB": Math.max(...held) / 1e6 }),
    ...(peakBytes === null ? {} : { "RSS MB since start": peakBytes / 1e6 }),
  };
}
