import type { LogLevel } from "./options.ts";

/** What each level prints, by the runtime's names of severities. */
const PRINTED = {
  none: [],
  error: ["error"],
  warn: ["error", "warn"],
  info: ["error", "warn", "info", "log", "debug"],
} as const satisfies Record<LogLevel, readonly string[]>;

/** A message for the runtime's developers: an alarm that was due while no server ran fires now. */
const RUNTIME_TALK = "NOSENTRY";

/** How the runtime itself reports a failure: where in its code, what, and a stack of addresses. */
const RUNTIME_FAILURE = /^\w+ = \S+: failed: (.*)\nstack: /;

/** Another host cannot be reached: imports, mirrors and webhooks tell it in their own state. */
const UNREACHED = /lookup address information|[Cc]onnection refused|unreachable|timed out/;

/** What people read of a message; null: nothing. */
function forPeople(message: string): string | null {
  if (message.startsWith(RUNTIME_TALK)) return null;
  const failure = RUNTIME_FAILURE.exec(message);
  if (failure === null) return message;
  return UNREACHED.test(failure[1]!) ? null : `The Workers runtime: ${failure[1]}`;
}

/** Prints a line of the server's log if its level is enabled: events to standard output, problems
 * to standard error. */
export function printLog(
  { level, message }: { readonly level: string; readonly message: string },
  asked: LogLevel,
): void {
  const line = PRINTED[asked].some((one) => one === level) ? forPeople(message) : null;
  if (line === null) return;
  if (level === "error" || level === "warn") console.error(line);
  else console.log(line);
}
