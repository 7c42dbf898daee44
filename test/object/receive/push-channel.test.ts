import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PushChannel } from "../../../src/object/receive/push-channel.ts";
import { decodePkts, demux } from "../../harness/raw.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Closes the channel and parses its whole response. */
async function readAll(channel: PushChannel): Promise<{ data: string; progress: string }> {
  channel.close();
  const body = Buffer.from(await (await channel.begun).arrayBuffer());
  const { data, progress } = demux(decodePkts(body));
  return { data: data.toString(), progress };
}

test("the response does not begin before it may", () => {
  const channel = new PushChannel(false);
  vi.advanceTimersByTime(60_000);
  channel.progress("Receiving objects", 1, 1_000);
  expect(channel.hasBegun).toBe(false);
  channel.allowBegin();
  channel.progress("Receiving objects", 2, 1_000);
  expect(channel.hasBegun).toBe(true);
});

test("a line at most every half second, and one at the end of each phase", async () => {
  const channel = new PushChannel(false);
  channel.allowBegin();
  for (let done = 1; done <= 100; done++) {
    vi.advanceTimersByTime(10);
    channel.progress("Receiving objects", done, 100);
  }
  channel.progress("Receiving objects", 100, 100);
  channel.progress("Resolving deltas", 3, 3);
  channel.progress("Nothing", 0, 0);
  expect((await readAll(channel)).progress).toBe(
    "Receiving objects:  50% (50/100)\rReceiving objects: 100% (100/100), done.\nResolving deltas: 100% (3/3), done.\n",
  );
});

test("a quiet client hears nothing but the report and signs of life", async () => {
  const channel = new PushChannel(true);
  channel.keepAlive();
  channel.progress("Resolving deltas", 3, 3);
  expect(channel.hasBegun).toBe(false);
  vi.advanceTimersByTime(11_000);
  channel.report(Buffer.from("the report"));
  vi.advanceTimersByTime(60_000);
  channel.close();
  const body = Buffer.from(await (await channel.begun).arrayBuffer());
  expect(body.toString()).toBe("0005\x010005\x01000f\x01the report0000");
});

test("a report longer than a packet is split", async () => {
  const channel = new PushChannel(false);
  const report = "r".repeat(200_000);
  channel.report(Buffer.from(report));
  expect((await readAll(channel)).data).toBe(report);
});

test("a client that goes away does not stop the push", async () => {
  const channel = new PushChannel(false);
  channel.keepAlive();
  channel.progress("Resolving deltas", 3, 3);
  await (await channel.begun).body!.cancel();
  channel.progress("Checking", 1, 1);
  channel.report(Buffer.from("the report"));
  channel.close();
});
