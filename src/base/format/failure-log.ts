import { AsyncLocalStorage } from "node:async_hooks";

/** What the log says of the request that a failure ended. */
export type FailedRequest = Readonly<Record<string, string | number | null>>;

const REQUESTS = new AsyncLocalStorage<() => FailedRequest>();

/** Runs a request; failures that are logged meanwhile name it.
 * @param describe what the log says of it, asked when something fails */
export function namingRequest<T>(describe: () => FailedRequest, run: () => T): T {
  return REQUESTS.run(describe, run);
}

/** Prints a failure of the server as one line of JSON, with the request that it ended. Its client
 * is told an id, not the details. */
export function logFailure(error: unknown): void {
  const request = REQUESTS.getStore()?.() ?? {};
  const { stack = null, cause = null } = error instanceof Error ? error : {};
  const told = { error: String(error), ...(cause instanceof Error && { cause: String(cause) }), stack };
  // oxlint-disable-next-line no-console -- the client already has its answer, so the log is the only place left.
  console.error(JSON.stringify({ event: "error", ...request, ...told }));
}
