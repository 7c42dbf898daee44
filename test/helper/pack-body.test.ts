/** What of a pack goes in one body, and what a slow line does to it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { PackBody } from "../../helper/pack-body.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const PART_BYTES = 300_000;

function* sizes(): Generator<number, never> {
  for (;;) yield PART_BYTES;
}

/** A body of up to three parts, from number 5 on, and what makes them. */
function start() {
  const dir = makeTempDir("parts");
  const pathOf = (part: number): string => join(dir, `${part}`);
  const body = new PackBody(5, sizes(), 3.5 * PART_BYTES, pathOf);
  const make = (number: number): boolean => {
    writeFileSync(pathOf(number), Buffer.alloc(PART_BYTES, number));
    return body.takes({ number, sizeBytes: PART_BYTES, sha256: "" });
  };
  return { body, make };
}

async function readAll(body: PackBody): Promise<number[]> {
  const seen: number[] = [];
  for await (const piece of body.read()) for (const byte of piece) if (byte !== seen.at(-1)) seen.push(byte);
  return seen;
}

test("parts go as they are made, up to its size", async () => {
  const { body, make } = start();
  expect(body.from).toBe(8);
  const reading = readAll(body);
  for (const number of [5, 6, 7]) {
    await sleep(10);
    expect(make(number)).toBe(true);
  }
  expect(await reading).toEqual([5, 6, 7]);
  expect(make(8)).toBe(false);
});

test("a pack that ends before ends it", async () => {
  const { body, make } = start();
  make(5);
  const reading = readAll(body);
  await sleep(10);
  body.end();
  expect(await reading).toEqual([5]);
});

test("given up, it gives its parts back, and takes no other", async () => {
  const { body, make } = start();
  make(5);
  const reading = readAll(body);
  await sleep(10);
  expect(body.giveUp().map(({ number }) => number)).toEqual([5]);
  expect(make(6)).toBe(false);
  await reading;
});

test("a line that takes it slowly ends it", async () => {
  const { body, make } = start();
  for (const number of [5, 6, 7]) make(number);
  const pieces = body.read();
  await pieces.next();
  expect(body.isSlow).toBe(false);
  await sleep(2_100);
  await expect(pieces.next()).rejects.toThrow("the line is slow");
  expect(body.isSlow).toBe(true);
});
