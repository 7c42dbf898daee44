import type { LogLevel } from "./options.ts";

/** What is printed on which level, by the runtime's words for how urgent a line is. */
const PRINTED = {
  none: [],
  error: ["error"],
  warn: ["error", "warn"],
  info: ["error", "warn", "info", "log", "debug"],
} as const satisfies Record<LogLevel, readonly string[]>;

/** What the runtime tells its makers: that an alarm which was due while no server ran is rung now. */
const RUNTIME_TALK = "NOSENTRY";

/** Prints a line of the server's log, if its level is asked for: events to standard output, what is wrong to standard error. */
export function printLog(
  { level, message }: { readonly level: string; readonly message: string },
  asked: LogLevel,
): void {
  if (!PRINTED[asked].some((one) => one === level) || message.startsWith(RUNTIME_TALK)) return;
  if (level === "error" || level === "warn") console.error(message);
  else console.log(message);
}
