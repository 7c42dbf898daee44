/** Imports that are cut, and go on. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { ImportBench } from "../harness/import-bench.ts";
import { passOn, startUpstream } from "../harness/upstream.ts";

let bench: ImportBench;
beforeAll(async () => {
  bench = await ImportBench.open();
});
afterAll(() => bench.close());

test("goes on after the server is killed, at any step", { tags: "sweep" }, async () => {
  const slow = await startUpstream((request, response) => {
    setTimeout(() => passOn(bench.native.url, request, response), 150);
  });
  try {
    const names: string[] = [];
    // Three imports side by side, each a step ahead of the next, are killed together.
    for (const steps of [2, 1, 0]) {
      const name = await bench.newRepository();
      names.push(name);
      await bench.begin(name, { url: `${slow.url}/history.git` });
      for (let found = await bench.read(name); found.steps < Math.min(1, steps); found = await bench.read(name))
        await sleep(20);
    }
    const before = await Promise.all(names.map((name) => bench.read(name)));
    expect(before.map(({ steps }) => steps)).toEqual([expect.toSatisfy((steps) => steps >= 1), 1, 0]);
    await sleep(100);
    await bench.server.kill();
    await bench.server.restart();
    for (const name of names) {
      expect(await bench.settled(name)).toMatchObject({ state: "done", error: null });
      await bench.expectSame(name, bench.history);
    }
  } finally {
    await slow.close();
  }
});

test("tries again, at ever longer intervals, and fails after the fourth time", { tags: "sweep" }, async () => {
  const asked: number[] = [];
  const upstream = await startUpstream((_, response) => {
    asked.push(Date.now());
    response.writeHead(503).end();
  });
  try {
    const name = await bench.newRepository();
    await bench.begin(name, { url: `${upstream.url}/history.git` });
    expect(await bench.settled(name)).toMatchObject({ state: "failed", error: expect.stringContaining("503") });
    const waits = asked.slice(1).map((timeMs, i) => timeMs - asked[i]!);
    expect(waits.map((ms, i) => ms >= 20 * 4 ** i)).toEqual([true, true, true]);
  } finally {
    await upstream.close();
  }
});

test("ends when it is told to, and leaves nothing", { tags: "sweep" }, async () => {
  const slow = await startUpstream((request, response) => {
    passOn(bench.native.url, request, response, {}, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      if (request.method === "GET" || answer.headers["content-type"]?.includes("result") !== true) {
        answer.pipe(response);
        return;
      }
      // The list of refs is short; a pack stops in its middle.
      let sent = 0;
      answer.on("data", (piece: Buffer) => {
        if (sent < 8_000) response.write(piece.subarray(0, 8_000 - sent));
        sent += piece.length;
      });
      answer.on("end", () => sent < 8_000 && response.end());
    });
  });
  try {
    const name = await bench.newRepository();
    await bench.begin(name, { url: `${slow.url}/history.git` });
    await sleep(500);
    expect((await bench.read(name)).state).toBe("running");
    expect((await bench.begin(name, { url: `${slow.url}/other.git` })).status).toBe(409);
    expect((await askApi(bench.server, `/repos/${name}/import`, { method: "DELETE" })).status).toBe(204);
    expect((await askApi(bench.server, `/repos/${name}/import`)).status).toBe(404);
    await slow.close();
    await sleep(300);
    await bench.expectNothingLeft(name);
  } finally {
    await slow.close().catch(() => undefined);
  }
});
