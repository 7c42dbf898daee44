import { AsyncLocalStorage } from "node:async_hooks";

/** Fields of the log about a failed request. */
export type FailedRequest = Readonly<Record<string, string | number | null>>;

const REQUESTS = new AsyncLocalStorage<() => FailedRequest>();

/** Runs a request. Failures that are logged meanwhile include its fields.
 * @param describe makes the fields, only if something fails */
export function namingRequest<T>(describe: () => FailedRequest, run: () => T): T {
  return REQUESTS.run(describe, run);
}

/** Prints a failure of the server as one line of JSON, with the request that it ended. The
 * client receives an id instead of the details. */
export function logFailure(error: unknown): void {
  const request = REQUESTS.getStore()?.() ?? {};
  const { stack = null, cause = null } = error instanceof Error ? error : {};
  const told = { error: String(error), ...(cause instanceof Error && { cause: String(cause) }), stack };
  // oxlint-disable-next-line no-console -- the client already has its answer, so the log is the only place left.
  console.error(JSON.stringify({ event: "error", ...request, ...told }));
}
