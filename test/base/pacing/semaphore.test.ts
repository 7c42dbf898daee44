import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HOT_PUSH_BYTES } from "../../../src/base/format/limits.ts";
import { Semaphore } from "../../../src/base/pacing/semaphore.ts";
import type { PackSource } from "../../../src/object/state/push.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { ANYONE } from "../../harness/requester.ts";
import { PushedRepository } from "../../object/pushing.ts";
import { fromHex } from "../../object/stored-repository.ts";
import { NULL_OID } from "../../../src/base/format/oid.ts";
import { noise } from "../codec/sample.ts";

const MINUTE_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("a place whose lease is over goes to who waits; one that is renewed does not", async () => {
  const semaphore = new Semaphore(2, 1_000);
  const [dead, alive] = [await semaphore.acquire(), await semaphore.acquire()];
  let taken = 0;
  const waiting = [semaphore.acquire(), semaphore.acquire()].map((place) => place.then(() => void (taken += 1)));
  await vi.advanceTimersByTimeAsync(900);
  alive.renew();
  expect(taken).toBe(0);
  await vi.advanceTimersByTimeAsync(100);
  expect(taken).toBe(1);
  // A lost permit is neither regained nor released twice.
  dead.renew();
  dead.release();
  await vi.advanceTimersByTimeAsync(800);
  expect(taken).toBe(1);
  alive.release();
  await Promise.all(waiting);
  expect(taken).toBe(2);
});

/** A push of a large pack that lacks only its end, for which the source waits. */
function hang(repository: PushedRepository, name: string, pack: Uint8Array, tip: string): void {
  let isRead = false;
  const source: PackSource = {
    read: async () => {
      if (isRead) return new Promise(() => undefined);
      isRead = true;
      return pack.slice(0, pack.length - 100);
    },
  };
  void repository.repository.receive({
    commands: [{ name, old: NULL_OID, new: fromHex(tip) }],
    atomic: false,
    pushOptions: [],
    shallow: [],
    pack: source,
    agent: null,
    requester: ANYONE,
    progress: () => undefined,
  });
}

test("pushes that died with their places hold up the next large ones for two minutes, and no longer", async () => {
  const blob = makeObject("blob", noise(2 * HOT_PUSH_BYTES));
  const tree = makeTree(["100644", "noise", blob]);
  const commit = makeCommit(tree, [], "noise\n");
  const pack = packOf(blob, tree, commit);
  const tip = commit.oid;
  const repository = new PushedRepository();
  for (const name of ["a", "b"]) hang(repository, `refs/heads/${name}`, pack, tip);
  let isDone = false;
  const pushed = repository.receive([["refs/heads/main", null, tip]], pack).finally(() => (isDone = true));
  await vi.advanceTimersByTimeAsync(1.9 * MINUTE_MS);
  expect(isDone).toBe(false);
  await vi.advanceTimersByTimeAsync(0.2 * MINUTE_MS);
  expect((await pushed).refs).toEqual([{ name: "refs/heads/main", error: null }]);
});
