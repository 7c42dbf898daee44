import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type Server } from "../harness/server.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test("the front page says how to push", async () => {
  const response = await fetch(`${server.url}/`);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("git push");
});

test("a killed server comes back on the same URL", async () => {
  const { pid } = server;
  await server.kill();
  await expect(fetch(`${server.url}/`)).rejects.toThrow();
  await server.restart();
  expect(server.pid).not.toBe(pid);
  expect((await fetch(`${server.url}/`)).status).toBe(200);
  const usage = server.readUsage();
  expect(usage.cpuSeconds).toBeGreaterThan(0);
  expect(usage.peakMemoryBytes).toBeGreaterThanOrEqual(usage.memoryBytes);
});
