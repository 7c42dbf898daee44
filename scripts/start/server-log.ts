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

/** Prints a line of the server's log if its level is enabled: events to standard output, problems
 * to standard error. */
export function printLog(
  { level, message }: { readonly level: string; readonly message: string },
  asked: LogLevel,
): void {
  if (!PRINTED[asked].some((one) => one === level) || message.startsWith(RUNTIME_TALK)) return;
  if (level === "error" || level === "warn") console.error(message);
  else console.log(message);
}
