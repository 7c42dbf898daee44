import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { waitForHang } from "../../scripts/start/health.ts";

/** A server that computes for so long before each answer. */
const BUSY = (ms: number) => `require("node:http").createServer((request, response) => {
  for (const end = Date.now() + ${ms}; Date.now() < end; );
  response.end();
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;

async function startBusy(ms: number): Promise<{ pid: number; url: string } & AsyncDisposable> {
  const child = spawn(process.execPath, ["-e", BUSY(ms)], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  return {
    pid: child.pid!,
    url: `http://127.0.0.1:${port.toString().trim()}/`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

async function silence(server: { pid: number; url: string }, ms: number): Promise<number | null> {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), ms);
  const ended = once(end.signal, "abort").then(() => null);
  try {
    return await Promise.race([ended, waitForHang(server.url, () => server.pid, end.signal)]);
  } finally {
    clearTimeout(timer);
    end.abort();
  }
}

test("a process that stands still is told from one that is slow because it works", async () => {
  await using busy = await startBusy(25_000);
  await using stopped = await startBusy(0);
  process.kill(stopped.pid, "SIGSTOP");
  const [ofBusy, ofStopped] = await Promise.all([silence(busy, 40_000), silence(stopped, 40_000)]);
  expect(ofBusy).toBeNull();
  expect(ofStopped).toBeGreaterThan(14_000);
  expect(ofStopped).toBeLessThan(25_000);
});
