/** The Git hosts that are measured beside each other. */
import type { Limits } from "../../../src/format/limits.ts";
import type { Host } from "./host.ts";
import { openHoldfast, type RunningServer, startHoldfast } from "./holdfast.ts";
import { startNativeHost } from "./native.ts";

/** Those hosts. */
export interface Hosts {
  /** Null: Holdfast is measured alone. */
  readonly native: Host | null;
  readonly holdfast: Host;
  /** Starts another Holdfast, with lowered limits, which is closed with the others; absent where that is not this program's to do. */
  readonly startBeside?: (limits: Partial<Limits>) => Promise<Host>;
}

/** Starts or takes Holdfast, and starts native git where it is wanted.
 * @param options `running`: take this server
 * @param stack closes them */
export async function openHosts(
  options: { readonly running: RunningServer | undefined; readonly withNative: boolean },
  stack: AsyncDisposableStack,
): Promise<Hosts> {
  const { running, withNative } = options;
  const start = async (limits: Partial<Limits> = {}): Promise<Host> => {
    const host = await startHoldfast(limits);
    stack.defer(() => host.close());
    return host;
  };
  const holdfast = running === undefined ? await start() : await openHoldfast(running);
  if (running !== undefined) stack.defer(() => holdfast.close());
  const own = { holdfast, ...(running === undefined ? { startBeside: start } : {}) };
  const isHere = running === undefined || LOOPBACK.has(new URL(running.url).hostname);
  if (withNative && !isHere) console.error("The server is on another machine: it is measured without native git.");
  if (!withNative || !isHere) return { native: null, ...own };
  const native = await startNativeHost();
  stack.defer(() => native.close());
  return { native, ...own };
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Those that there are, native git first. */
export function listHosts({ native, holdfast }: Hosts): Host[] {
  return native === null ? [holdfast] : [native, holdfast];
}

/** What each of the hosts does in a turn. */
export function onEach<Result>(
  hosts: Hosts,
  run: (host: Host) => Promise<Result>,
): Record<string, () => Promise<Result>> {
  const { native, holdfast } = hosts;
  return { ...(native === null ? {} : { native: () => run(native) }), holdfast: () => run(holdfast) };
}
