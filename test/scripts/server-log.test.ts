import { afterEach, expect, test, vi } from "vitest";
import { printLog } from "../../scripts/start/server-log.ts";

afterEach(() => vi.restoreAllMocks());

/** What is printed of a message at the default level. */
function printed(message: string, level = "error"): string[] {
  const lines: string[] = [];
  vi.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line));
  printLog({ level, message }, "warn");
  return lines;
}

const STACK = "\nstack: /opt/workerd@28a3c60 /opt/workerd@3ac7580; sentryErrorContext = jsgInternalError";

test("the runtime's own failures are a line without addresses; hosts that are not there are none", () => {
  expect(printed(`e = rust/worker/ffi.rs:110: failed: failed to lookup address information: Name${STACK}`)).toEqual([]);
  expect(
    printed(`exception = workerd/util/sqlite.c++:914: failed: SQLite failed; database disk image is malformed${STACK}`),
  ).toEqual(["The Workers runtime: SQLite failed; database disk image is malformed"]);
  expect(printed("NOSENTRY SQLite alarm handler canceled")).toEqual([]);
  expect(printed('{"event":"error"}')).toEqual(['{"event":"error"}']);
  expect(printed('{"event":"request"}', "log")).toEqual([]);
});
