import { createConnection } from "node:net";
import { expect, test } from "vitest";
import { makeTempDir } from "../harness/temp-dir.ts";
import { StartedServer } from "./started-server.ts";

/** Whether somebody listens at a URL's port. */
function listens(url: string): Promise<boolean> {
  const { port } = new URL(url);
  return new Promise((settle) => {
    const socket = createConnection({ port: Number(port), host: "127.0.0.1" });
    socket.on("connect", () => settle(true)).on("error", () => settle(false));
    socket.on("connect", () => socket.destroy());
  });
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

test("whichever process of npm start is killed, it is served again, or nobody listens any more", async () => {
  const dir = makeTempDir("start");
  // What is left to serve is another's, or nobody's.
  for (const [victim, serves] of [
    ["workerd serve", true],
    ["node scripts/start.ts", false],
    ["npm start", false],
  ] as const) {
    await using server = await new StartedServer("--port", "0", "--persist-to", dir).ready();
    expect(await answers(server.url)).toBe(true);
    const pid = await server.find(victim);
    process.kill(pid, "SIGKILL");
    if (serves) {
      await server.says(
        /The Workers runtime ended \(SIGKILL\)\. It is started again; requests in progress are cut off\./,
      );
      // Who comes now waits for the next one. A little before, the one that dies may still take a
      // connection.
      const waiting = fetch(`${server.url}/healthz`, { headers: { Connection: "close" } });
      await server.says(/serves again/);
      expect((await waiting).status).toBe(200);
      await expect.poll(() => answers(server.url)).toBe(true);
      expect(await server.runtime()).not.toBe(pid);
    } else {
      await expect.poll(() => listens(server.url)).toBe(false);
      await expect.poll(() => server.processes()).toEqual(new Map());
    }
  }
});

test("a runtime that hangs is started again", async () => {
  await using server = await new StartedServer("--port", "0", "--persist-to", makeTempDir("start")).ready();
  const hung = await server.runtime();
  process.kill(hung, "SIGSTOP");
  await server.says(/has not answered for \d+ seconds/);
  await server.says(/serves again/);
  expect(await answers(server.url)).toBe(true);
});

test("a runtime that ends again and again is given up", async () => {
  await using server = await new StartedServer("--port", "0", "--persist-to", makeTempDir("start")).ready();
  for (let times = 0; times < 6; times++) {
    await expect.poll(() => answers(server.url)).toBe(true);
    process.kill(await server.runtime(), "SIGKILL");
  }
  const { status, stderr } = await server.ended();
  expect(status).toBe(1);
  expect(stderr).toContain("Holdfast cannot continue: it ended 6 times within a minute");
  expect(await listens(server.url)).toBe(false);
});
